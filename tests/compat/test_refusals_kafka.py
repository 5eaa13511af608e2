"""What the controller refuses, with which codes and in which words, beside Kafka's controller.

Values of configuration are the exception: the codes are Kafka's, the words say more than its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from snakka.protocol.api_keys import ApiKey, response_type
from snakka.protocol.messages import alter_configs, incremental_alter_configs
from snakka.protocol.messages import alter_partition as altering
from snakka.protocol.messages import alter_partition_reassignments as reassigning
from snakka.protocol.messages import assign_replicas_to_dirs as assigning
from snakka.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from snakka.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from snakka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from snakka.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from snakka.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from snakka.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from snakka.protocol.messages.unregister_broker import UnregisterBrokerRequest
from snakka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from snakka.protocol.schema import Request, Struct
from snakka.protocol.types import ZERO_UUID, Uuid
from tests.compat.asking import ask
from tests.compat.cluster import (
    KafkaNodeProcess,
    NodeProcess,
    create_topics,
    free_ports,
)
from tests.compat.java_oracle import require
from tests.compat.test_quorum_cluster import SMALL, bootstrap_of, running

NOBODY = Uuid(b"no such topic id")
TOPIC, GROUP, METRICS = 2, 32, 16
Refusal: TypeAlias = tuple[int, str | None]


@dataclass(frozen=True)
class Sides:
    """A node of each, which has the topic `orders` of three partitions."""

    ours: NodeProcess
    theirs: NodeProcess


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    require("java")
    made = []
    for kind in (NodeProcess, KafkaNodeProcess):
        directory: Path = tmp_path_factory.mktemp(kind.__name__)
        ports = free_ports(2)
        settings = (bootstrap_of(ports[:1]), *SMALL)
        node = kind(directory, 1, "broker,controller", ports[0], ports[1], settings)
        node.format("--standalone")
        made.append(node)
    with running(made):
        for node in made:
            node.start()
        for node in made:
            create_topics(node, "orders", partitions=3)
        yield Sides(*made)


def refusals(node: NodeProcess, request: Request, *, is_to_controller: bool) -> list[Refusal]:
    """All codes and messages of the answer."""
    address = node.controller if is_to_controller else node.bootstrap
    response = response_type(ApiKey(request.KEY))
    return list(_codes(ask(address, request, response.VERSIONS.last, response)))


def _codes(value: Any) -> Iterator[Refusal]:
    match value:
        case Struct():
            code = getattr(value, "error_code", None)
            if code is not None:
                yield code, getattr(value, "error_message", None)
            for name in type(value).__annotations__:
                yield from _codes(getattr(value, name))
        case list():
            for each in value:
                yield from _codes(each)


def topic(
    name: str = "new",
    partitions: int = 1,
    factor: int = 1,
    assignments: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in (assignments or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def creating(*topics: CreatableTopic) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), timeout_ms=10_000, validate_only=True)


def growing(name: str, count: int, *assigned: list[int]) -> CreatePartitionsRequest:
    assignments = [CreatePartitionsAssignment(broker_ids=each) for each in assigned]
    grown = CreatePartitionsTopic(name=name, count=count, assignments=assignments or None)
    return CreatePartitionsRequest(topics=[grown], timeout_ms=10_000, validate_only=True)


def deleting(*states: tuple[str | None, Uuid]) -> DeleteTopicsRequest:
    topics = [DeleteTopicState(name=name, topic_id=topic_id) for name, topic_id in states]
    return DeleteTopicsRequest(topics=topics, topic_names=[], timeout_ms=10_000)


def altered(
    kind: int, name: str, *changes: tuple[str, int, str | None]
) -> incremental_alter_configs.IncrementalAlterConfigsRequest:
    module = incremental_alter_configs
    configs = [
        module.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    ]
    resource = module.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return module.IncrementalAlterConfigsRequest(resources=[resource], validate_only=True)


def replaced(kind: int, name: str, **values: str | None) -> alter_configs.AlterConfigsRequest:
    configs = [
        alter_configs.AlterableConfig(name=key.replace("_", "."), value=value)
        for key, value in values.items()
    ]
    resource = alter_configs.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=configs
    )
    return alter_configs.AlterConfigsRequest(resources=[resource], validate_only=True)


def moving(
    name: str, partition: int, replicas: list[int] | None
) -> reassigning.AlterPartitionReassignmentsRequest:
    moved = reassigning.ReassignablePartition(partition_index=partition, replicas=replicas)
    return reassigning.AlterPartitionReassignmentsRequest(
        timeout_ms=10_000, topics=[reassigning.ReassignableTopic(name=name, partitions=[moved])]
    )


def electing(kind: int, name: str, partition: int) -> ElectLeadersRequest:
    wanted = TopicPartitions(topic=name, partitions=[partition])
    return ElectLeadersRequest(election_type=kind, topic_partitions=[wanted], timeout_ms=10_000)


def limiting(
    *entity: tuple[str, str | None], key: str = "producer_byte_rate", value: float = 1.0
) -> AlterClientQuotasRequest:
    entry = RequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[OpData(key=key, value=value, remove=False)],
    )
    return AlterClientQuotasRequest(entries=[entry], validate_only=True)


def credential(
    name: str, mechanism: int, iterations: int = 8192
) -> AlterUserScramCredentialsRequest:
    upsertion = ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt",
        salted_password=b"password",
    )
    return AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion])


def level(feature: str, number: int, kind: int) -> UpdateFeaturesRequest:
    update = FeatureUpdateKey(feature=feature, max_version_level=number, upgrade_type=kind)
    return UpdateFeaturesRequest(feature_updates=[update], timeout_ms=10_000, validate_only=True)


TO_A_BROKER: list[Request] = [
    creating(topic("")),
    creating(topic(".")),
    creating(topic("a b")),
    creating(topic("x" * 250)),
    creating(topic("orders")),
    creating(topic("twice"), topic("twice")),
    creating(topic("a.b"), topic("a_b")),
    creating(topic(partitions=0)),
    creating(topic(partitions=-5)),
    creating(topic(factor=0)),
    creating(topic(factor=-7)),
    creating(topic(factor=3)),
    creating(topic(partitions=20_000)),
    creating(topic(retention_ms=None)),
    creating(topic(partitions=-1, factor=-1, assignments={0: [1], 2: [1]})),
    creating(topic(partitions=-1, factor=-1, assignments={0: []})),
    creating(topic(partitions=-1, factor=-1, assignments={0: [1, 1]})),
    creating(topic(partitions=-1, factor=-1, assignments={0: [9]})),
    creating(topic(partitions=2, factor=-1, assignments={0: [1]})),
    creating(topic(partitions=-1, factor=1, assignments={0: [1]})),
    growing("orders", 3),
    growing("orders", 2),
    growing("orders", 5, [1]),
    growing("orders", 4, [9]),
    growing("orders", 4, [1, 1]),
    growing("orders", 4, []),
    growing("missing", 4),
    deleting(("missing", ZERO_UUID)),
    deleting((None, NOBODY)),
    deleting((None, ZERO_UUID)),
    deleting(("orders", NOBODY)),
    deleting(("missing", ZERO_UUID), ("missing", ZERO_UUID)),
    altered(TOPIC, "missing", ("retention.ms", 0, "1")),
    altered(TOPIC, "orders", ("retention.ms", 0, None)),
    altered(TOPIC, "orders", ("retention.ms", 2, "1")),
    altered(TOPIC, "orders", ("retention.ms", 0, "1"), ("retention.ms", 1, None)),
    altered(TOPIC, "", ("retention.ms", 0, "1")),
    altered(GROUP, "", ("consumer.session.timeout.ms", 0, "50000")),
    replaced(TOPIC, "missing", retention_ms="1"),
    replaced(TOPIC, "orders", retention_ms=None),
    moving("missing", 0, [1]),
    moving("orders", 9, [1]),
    moving("orders", 0, []),
    moving("orders", 0, [1, 1]),
    moving("orders", 0, [-1]),
    moving("orders", 0, [1, 9]),
    moving("orders", 0, None),
    electing(0, "missing", 0),
    electing(0, "orders", 9),
    electing(0, "orders", 0),
    electing(1, "orders", 0),
    limiting(),
    limiting(("user", "")),
    limiting(("no-such", "a")),
    limiting(("ip", "a.b.c."), key="connection_creation_rate"),
    limiting(("user", "a"), key="no_such_rate"),
    limiting(("user", "a"), value=-1.0),
    limiting(("user", "a"), value=1.5),
    credential("", 1),
    credential("alice", 9),
    credential("alice", 1, iterations=1),
    credential("alice", 1, iterations=1_000_000),
    AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name="nobody", mechanism=1)], upsertions=[]
    ),
    level("group.version", 9, 1),
    level("no.such", 1, 1),
    level("metadata.version", 22, 1),
    level("metadata.version", 22, 2),
    level("metadata.version", 22, 3),
    level("group.version", -1, 1),
    level("kraft.version", 0, 2),
    UnregisterBrokerRequest(broker_id=9),
]

# Kafka says as much, in other words.
IN_OTHER_WORDS: list[Request] = [
    creating(topic(retention_ms="soon")),
    creating(topic(no_such_key="1")),
    altered(TOPIC, "orders", ("retention.ms", 0, "soon")),
    altered(TOPIC, "orders", ("no.such.key", 0, "1")),
    altered(GROUP, "g", ("consumer.session.timeout.ms", 0, "1")),
    altered(METRICS, "m", ("match", 0, "no.such=1")),
    limiting(("ip", "1.2.3.4"), ("user", "a"), key="connection_creation_rate"),
]

ALTERED = altering.RequestTopicData(topic_id=NOBODY, partitions=[])
TO_A_CONTROLLER: list[Request] = [
    AllocateProducerIdsRequest(broker_id=1, broker_epoch=-7),
    AllocateProducerIdsRequest(broker_id=9, broker_epoch=1),
    BrokerHeartbeatRequest(
        broker_id=1,
        broker_epoch=-7,
        current_metadata_offset=1,
        want_fence=False,
        want_shut_down=False,
    ),
    altering.AlterPartitionRequest(broker_id=1, broker_epoch=-7, topics=[ALTERED]),
    altering.AlterPartitionRequest(broker_id=9, broker_epoch=1, topics=[ALTERED]),
    assigning.AssignReplicasToDirsRequest(broker_id=1, broker_epoch=-7, directories=[]),
]


def shown(request: Request) -> str:
    return repr(request)[:120]


@pytest.mark.parametrize("request_", TO_A_BROKER, ids=shown)
def test_a_client_is_told_what_kafka_tells_it(sides: Sides, request_: Request) -> None:
    ours = refusals(sides.ours, request_, is_to_controller=False)
    assert ours == refusals(sides.theirs, request_, is_to_controller=False)


@pytest.mark.parametrize("request_", IN_OTHER_WORDS, ids=shown)
def test_a_client_is_told_it_in_other_words(sides: Sides, request_: Request) -> None:
    ours, theirs = (
        [code for code, message in refusals(node, request_, is_to_controller=False) if message]
        for node in (sides.ours, sides.theirs)
    )
    assert ours == theirs != []


@pytest.mark.parametrize("request_", TO_A_CONTROLLER, ids=shown)
def test_a_broker_is_told_what_kafka_tells_it(sides: Sides, request_: Request) -> None:
    ours = refusals(sides.ours, request_, is_to_controller=True)
    assert ours == refusals(sides.theirs, request_, is_to_controller=True)
