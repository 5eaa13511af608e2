from collections import Counter

import pytest

from snakka.controller.create_topics import create_topics
from snakka.controller.decision import RefusedError
from snakka.metadata.image import Topic
from snakka.metadata.keys import ConfigResource
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from tests.controller.making import Cluster, brokers, topic
from tests.metadata.making import log_dir, register


def new(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    assignments: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=-1 if assignments else partitions,
        replication_factor=-1 if assignments else replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in (assignments or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def create(
    cluster: Cluster, *topics: CreatableTopic, validate_only: bool = False
) -> list[CreatableTopicResult]:
    asked = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    response = cluster.decide(create_topics(cluster.view, asked, cluster.random))
    cluster.check()
    return response.topics


def get(cluster: Cluster, name: str) -> Topic:
    found = cluster.view.image.topics.find(name)
    assert found is not None
    return found


class TestCreateTopics:
    def test_places_partitions_and_answers_with_what_was_made(self) -> None:
        cluster = Cluster(*brokers(1, 2, 3))
        (result,) = create(cluster, new("orders", 6, 2, retention_ms="5"))
        made = get(cluster, "orders")
        assert (result.error_code, result.topic_id) == (ErrorCode.NONE, made.topic_id)
        assert (result.num_partitions, result.replication_factor) == (6, 2)
        assert [each.name for each in result.configs or []] == ["retention.ms"]
        assert Counter(each.leader for each in made.partitions.values()) == {1: 2, 2: 2, 3: 2}
        for partition in made.partitions.values():
            assert partition.isr == partition.replicas
            assert (partition.leader, partition.leader_epoch) == (partition.replicas[0], 0)
            assert partition.directories == tuple(map(log_dir, partition.replicas))
        assert cluster.view.image.configs_of(ConfigResource.topic("orders")) == {
            "retention.ms": "5"
        }

    def test_takes_the_defaults_of_the_configuration(self) -> None:
        cluster = Cluster(*brokers(1))
        (result,) = create(cluster, new("orders", -1, -1))
        assert (result.num_partitions, result.replication_factor) == (1, 1)

    def test_writes_nothing_when_it_only_validates(self) -> None:
        cluster = Cluster(*brokers(1))
        (result,) = create(cluster, new("orders"), validate_only=True)
        assert result.error_code == ErrorCode.NONE
        assert not cluster.view.image.topics.by_id

    def test_follows_a_manual_assignment(self) -> None:
        cluster = Cluster(*brokers(1, 2), register(3, fenced=True))
        create(cluster, new("orders", assignments={1: [3, 2], 0: [2, 1]}))
        first, second = get(cluster, "orders").partitions.values()
        assert (first.replicas, first.isr, first.leader) == ((2, 1), (2, 1), 2)
        assert (second.replicas, second.isr, second.leader) == ((3, 2), (2,), 2)

    def test_makes_some_and_refuses_others(self) -> None:
        cluster = Cluster(*brokers(1))
        results = create(cluster, new("good"), new("bad/name"), new("twice"), new("twice"))
        assert [(each.name, each.error_code) for each in results] == [
            ("good", ErrorCode.NONE),
            ("bad/name", ErrorCode.INVALID_TOPIC_EXCEPTION),
            ("twice", ErrorCode.INVALID_REQUEST),
        ]
        assert set(cluster.view.image.topics.ids) == {"good"}

    @pytest.mark.parametrize(
        ("asked", "code", "message"),
        [
            (new(""), 17, "Topic name is invalid: the empty string is not allowed"),
            (new(".."), 17, "Topic name is invalid: '..' is not allowed"),
            (new("x" * 250), 17, f"Topic name is invalid: the length of '{'x' * 250}' is longer"
             " than the max allowed length 249"),
            (new("a b"), 17, "Topic name is invalid: 'a b' contains one or more characters other"
             " than ASCII alphanumerics, '.', '_' and '-'"),
            (new("taken.name"), 36, "Topic 'taken.name' already exists."),
            (new("taken_name"), 17, "Topic 'taken_name' collides with existing topic: taken.name"),
            (new("__cluster_metadata"), 42,
             "Creation of internal topic __cluster_metadata is prohibited."),
            (new("t", 0), 37, "Number of partitions was set to an invalid non-positive value."),
            (new("t", 1, 0), 38,
             "Replication factor must be larger than 0, or -1 to use the default value."),
            (new("t", 1, 3), 38, "Unable to replicate the partition 3 time(s): The target"
             " replication factor of 3 cannot be reached because only 2 broker(s) are registered"
         " or some brokers have all their log directories cordoned."),
            (new("t", 10_001), 44, "Excessively large number of partitions per request."),
            (new("t", retention_ms=None), 40,
             "Null value not supported for topic configs: retention.ms"),
            (new("t", no_such="1"), 40, "Unknown topic config name: no.such"),
            (new("t", retention_ms="x"), 40, "Invalid value x for configuration retention.ms"),
            (new("t", assignments={0: []}), 39,
             "The manual partition assignment includes an empty replica list."),
            (new("t", assignments={0: [9]}), 39, "The manual partition assignment includes broker"
             " 9, but no such broker is registered."),
            (new("t", assignments={0: [1, 1]}), 39, "The manual partition assignment includes the"
             " broker 1 more than once."),
            (new("t", assignments={0: [1, 2], 1: [1]}), 39, "The manual partition assignment"
             " includes a partition with 1 replica(s), but this is not consistent with previous"
             " partitions, which have 2 replica(s)."),
            (new("t", assignments={0: [2]}), 39, "All brokers specified in the manual partition"
             " assignment for partition 0 are fenced or in controlled shutdown."),
            (new("t", assignments={0: [1], 2: [1]}), 39,
             "partitions should be a consecutive 0-based integer sequence"),
        ],
    )  # fmt: skip
    def test_refuses(self, asked: CreatableTopic, code: int, message: str) -> None:
        cluster = Cluster(register(1), register(2, fenced=True), *topic("taken.name", 1, (1,)))
        (result,) = create(cluster, asked)
        assert (result.error_code, result.error_message) == (code, message)
        assert set(cluster.view.image.topics.ids) == {"taken.name"}

    def test_refuses_counts_beside_a_manual_assignment(self) -> None:
        cluster = Cluster(register(1))
        assignments = [CreatableReplicaAssignment(partition_index=0, broker_ids=[1])]
        for partitions, replicas, word in ((1, -1, "numPartitions"), (-1, 1, "replication factor")):
            asked = CreatableTopic(
                name="t", num_partitions=partitions, replication_factor=replicas,
                assignments=assignments, configs=[],
            )  # fmt: skip
            (result,) = create(cluster, asked)
            assert result.error_code == ErrorCode.INVALID_REQUEST
            assert word in (result.error_message or "")

    def test_refuses_while_all_brokers_are_fenced(self) -> None:
        (result,) = create(Cluster(register(1, fenced=True)), new("t"))
        assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
        assert result.error_message == (
            "Unable to replicate the partition 1 time(s): All brokers are currently fenced."
        )

    def test_leaves_over_the_quota_what_does_not_fit_into_it(self) -> None:
        cluster = Cluster(register(1))
        left = 3

        def charge(partitions: int) -> None:
            nonlocal left
            if partitions > left:
                raise RefusedError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
            left -= partitions

        asked = CreateTopicsRequest(topics=[new("a", 2), new("b", 2), new("c", 1)])
        response = cluster.decide(create_topics(cluster.view, asked, cluster.random, charge))
        assert [each.error_code for each in response.topics] == [0, 89, 0]
