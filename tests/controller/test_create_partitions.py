import pytest

from snakka.controller.create_partitions import create_partitions
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from tests.controller.making import Cluster, brokers, topic
from tests.controller.test_create_topics import get


def grow(
    cluster: Cluster,
    name: str,
    count: int,
    assignments: list[list[int]] | None = None,
    *,
    validate_only: bool = False,
) -> CreatePartitionsTopicResult:
    given = (
        None
        if assignments is None
        else [CreatePartitionsAssignment(broker_ids=each) for each in assignments]
    )
    asked = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=count, assignments=given)],
        timeout_ms=1,
        validate_only=validate_only,
    )
    (result,) = cluster.decide(create_partitions(cluster.view, asked, cluster.random)).results
    cluster.check()
    return result


class TestCreatePartitions:
    def test_adds_as_many_replicas_as_the_topic_has(self) -> None:
        cluster = Cluster(*brokers(1, 2, 3), *topic("orders", 1, (1, 2)))
        assert grow(cluster, "orders", 4).error_code == ErrorCode.NONE
        partitions = get(cluster, "orders").partitions
        assert sorted(partitions) == [0, 1, 2, 3]
        assert all(len(each.replicas) == 2 for each in partitions.values())

    def test_follows_assignments(self) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1, 2)))
        grow(cluster, "orders", 2, [[2, 1]])
        assert cluster.partition(1, 1).replicas == (2, 1)

    def test_writes_nothing_when_it_only_validates(self) -> None:
        cluster = Cluster(*brokers(1), *topic("orders", 1, (1,)))
        assert grow(cluster, "orders", 2, validate_only=True).error_code == ErrorCode.NONE
        assert len(get(cluster, "orders").partitions) == 1

    @pytest.mark.parametrize(
        ("name", "count", "assignments", "code", "message"),
        [
            ("gone", 2, None, 3, None),
            ("orders", 2, None, 37, "Topic already has 2 partition(s)."),
            ("orders", 1, None, 37, "The topic orders currently has 2 partition(s); 1 would not be"
             " an increase."),
            ("orders", 4, [[1]], 39, "Attempted to add 2 additional partition(s), but only 1"
             " assignment(s) were specified."),
            ("orders", 3, [[1, 9]], 39, "The manual partition assignment includes broker 9, but no"
             " such broker is registered."),
            ("orders", 3, [[1, 2]], 39, "The manual partition assignment includes a partition with"
             " 2 replica(s), but this is not consistent with previous partitions, which have 1"
             " replica(s)."),
            ("orders", 20_000, None, 44,
             "Unable to perform excessively large batch operation."),
        ],
    )  # fmt: skip
    def test_refuses(
        self,
        name: str,
        count: int,
        assignments: list[list[int]] | None,
        code: int,
        message: str | None,
    ) -> None:
        cluster = Cluster(*brokers(1, 2), *topic("orders", 1, (1,), (2,)))
        result = grow(cluster, name, count, assignments)
        assert (result.error_code, result.error_message) == (code, message)
        assert len(get(cluster, "orders").partitions) == 2
