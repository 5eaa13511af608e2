"""The share coordinator beside Kafka's own: the same requests, the same answers.

Then each node goes on with the other's directory, and answers as that one has.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages import delete_share_group_state as delete
from snakka.protocol.messages import find_coordinator as find
from snakka.protocol.messages import initialize_share_group_state as initialize
from snakka.protocol.messages import read_share_group_state as read
from snakka.protocol.messages import read_share_group_state_summary as summary
from snakka.protocol.messages import write_share_group_state as write
from snakka.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from snakka.protocol.types import Uuid, format_uuid
from tests.compat.asking import ask
from tests.compat.cluster import (
    KafkaNodeProcess,
    NodeProcess,
    create_topics,
    free_ports,
    wait_for_broker,
)
from tests.compat.java_oracle import require

SETTINGS = (
    "share.coordinator.state.topic.replication.factor=1",
    "share.coordinator.state.topic.min.isr=1",
    "share.coordinator.state.topic.num.partitions=3",
    "share.coordinator.snapshot.update.records.per.snapshot=4",
    "offsets.topic.replication.factor=1",
    "broker.session.timeout.ms=1000",
    "broker.heartbeat.interval.ms=300",
)
REQUESTS = 300
STEPS_PER_EPOCH = 60
PARTITIONS = 2
GROUPS = ("one", "two")
SHARE = 2
PATIENCE_S = 60


class Side(NamedTuple):
    """A node, and the id that it has given to the topic."""

    node: NodeProcess
    topic_id: Uuid

    def ask(self, asked: "Asked") -> Any:
        """What it says of the one share partition, without the topic's id."""
        kind, group, partition = asked.kind, asked.group, asked.partition
        topic_id = self.topic_id if asked.is_known else Uuid(b"unknown topic id")
        found = ask(
            self.node.bootstrap,
            kind.request(
                group_id=group, topics=[kind.topic(topic_id=topic_id, partitions=[partition])]
            ),
            kind.version,
            kind.response,
        )
        assert [each.topic_id for each in found.results] == [topic_id]
        return found.results[0].partitions

    def find_coordinator(self, key: str, version: int = 6) -> int:
        request = find.FindCoordinatorRequest(key_type=SHARE, coordinator_keys=[key])
        answer = ask(self.node.bootstrap, request, version, find.FindCoordinatorResponse)
        (found,) = answer.coordinators
        return found.error_code


class Kind(NamedTuple):
    request: Any
    topic: Any
    response: Any
    version: int


INITIALIZE = Kind(
    initialize.InitializeShareGroupStateRequest,
    initialize.InitializeStateData,
    initialize.InitializeShareGroupStateResponse,
    0,
)
WRITE = Kind(
    write.WriteShareGroupStateRequest, write.WriteStateData, write.WriteShareGroupStateResponse, 1
)
READ = Kind(
    read.ReadShareGroupStateRequest, read.ReadStateData, read.ReadShareGroupStateResponse, 0
)
SUMMARIZE = Kind(
    summary.ReadShareGroupStateSummaryRequest,
    summary.ReadStateSummaryData,
    summary.ReadShareGroupStateSummaryResponse,
    1,
)
DELETE = Kind(
    delete.DeleteShareGroupStateRequest,
    delete.DeleteStateData,
    delete.DeleteShareGroupStateResponse,
    0,
)


class Asked(NamedTuple):
    kind: Kind
    group: str
    partition: Any
    is_known: bool = True


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[tuple[NodeProcess, KafkaNodeProcess]]:
    require("java")
    ports = iter(free_ports(4))
    ours, kafka = (
        kind(
            tmp_path / kind.__name__,
            1,
            "broker,controller",
            controller := next(ports),
            next(ports),
            (*SETTINGS, f"controller.quorum.bootstrap.servers=127.0.0.1:{controller}"),
        )
        for kind in (NodeProcess, KafkaNodeProcess)
    )
    assert isinstance(kafka, KafkaNodeProcess)
    for node in (ours, kafka):
        node.format("--standalone")
    try:
        yield ours, kafka
    finally:
        for node in (ours, kafka):
            node.kill()


def test_kafkas_share_coordinator_answers_alike(
    nodes: tuple[NodeProcess, KafkaNodeProcess],
) -> None:
    ours, kafka = nodes
    for node in nodes:
        node.start()
    sides = [begin(node) for node in nodes]
    for key in ("group", "group:0", ":AAAAAAAAAAAAAAAAAAAAAQ:0", "group:topic:0", "a:b:c:d"):
        assert [each.find_coordinator(key) for each in sides] == [ErrorCode.INVALID_REQUEST] * 2
    seed = time.time_ns()
    rng = Random(seed)
    print("seed", seed)
    refusals = 0
    for step in range(REQUESTS):
        asked = draw(rng, step // STEPS_PER_EPOCH)
        said = [each.ask(asked) for each in sides]
        assert said[0] == said[1], asked
        refusals += bool(said[0][0].error_code)
    assert refusals < REQUESTS // 2
    before = [everything(each) for each in sides]
    assert before[0] == before[1]

    ours.stop()
    kafka.kill()  # which flushes nothing, and leaves all that it has answered for
    ours.directory, kafka.directory = kafka.directory, ours.directory
    ours.broker_port, kafka.broker_port = kafka.broker_port, ours.broker_port  # as configured there
    for node in nodes:
        node.start()
    swapped = [Side(ours, sides[1].topic_id), Side(kafka, sides[0].topic_id)]
    for each in swapped:
        wait_for_broker(each.node, 1)
        wait_until_found(each)
        assert everything(each) == before[0]


def begin(node: NodeProcess) -> Side:
    wait_for_broker(node, node.node_id)
    create_topics(node, "shared", partitions=PARTITIONS)
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="shared")])
    (topic,) = ask(node.bootstrap, asked, 12, MetadataResponse).topics
    side = Side(node, topic.topic_id)
    wait_until_found(side)
    return side


def wait_until_found(side: Side) -> None:
    """The coordinators of all partitions are there, and loaded."""
    deadline = time.monotonic() + PATIENCE_S
    for group in GROUPS:
        for index in range(PARTITIONS):
            key = f"{group}:{format_uuid(side.topic_id)}:{index}"
            asked = Asked(SUMMARIZE, group, summary.PartitionData(partition=index, leader_epoch=-1))
            while side.find_coordinator(key) or side.ask(asked)[0].error_code:
                assert time.monotonic() < deadline, side.node.log.read_text()
                time.sleep(0.1)


def draw(rng: Random, epoch: int) -> Asked:
    group, index = rng.choice(GROUPS), rng.randrange(PARTITIONS)
    is_known = rng.random() > 0.02
    epochs = [-1, epoch, epoch, epoch, epoch, epoch, max(0, epoch - 1)]
    state_epoch, leader_epoch = rng.choice(epochs), rng.choice(epochs)
    match rng.choices([INITIALIZE, WRITE, READ, SUMMARIZE, DELETE], weights=[3, 20, 5, 4, 0.5])[0]:
        case kind if kind is INITIALIZE:
            partition: Any = initialize.PartitionData(
                partition=rng.choice([index, index, index, -1, PARTITIONS]),
                state_epoch=state_epoch,
                start_offset=rng.choice([-1, 0, 10]),
            )
        case kind if kind is WRITE:
            partition = write.PartitionData(
                partition=index,
                state_epoch=state_epoch,
                leader_epoch=leader_epoch,
                start_offset=rng.choice([-1, -1, rng.randrange(40)]),
                delivery_complete_count=rng.randrange(10),
                state_batches=[draw_batch(rng) for _ in range(rng.randrange(6))],
            )
        case kind if kind is READ:
            partition = read.PartitionData(partition=index, leader_epoch=leader_epoch)
        case kind if kind is SUMMARIZE:
            partition = summary.PartitionData(partition=index, leader_epoch=leader_epoch)
        case kind:
            partition = delete.PartitionData(partition=index)
    return Asked(kind, group, partition, is_known)


def draw_batch(rng: Random) -> write.StateBatch:
    first = rng.randrange(60)
    return write.StateBatch(
        first_offset=first,
        last_offset=first + rng.randrange(12),
        delivery_state=rng.choice([0, 2, 4]),
        delivery_count=rng.randint(1, 4),
    )


def everything(side: Side) -> list[Any]:
    """What is kept of all share partitions."""
    said = []
    for group in GROUPS:
        for index in range(PARTITIONS):
            of_all = summary.PartitionData(partition=index, leader_epoch=-1)
            said.append(side.ask(Asked(SUMMARIZE, group, of_all)))
            whole = read.PartitionData(partition=index, leader_epoch=-1)
            said.append(side.ask(Asked(READ, group, whole)))
    return said
