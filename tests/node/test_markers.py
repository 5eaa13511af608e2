"""Markers find the leaders of their partitions; what was deleted needs none."""

import asyncio
from collections.abc import Collection, Mapping

import pytest

from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import TransactionEnd
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, MetadataImage, Provenance
from snakka.node.markers import MarkerRouting
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import PartitionRecord, TopicRecord
from snakka.protocol.types import Uuid

NODE_ID = 1
TOPIC_ID = Uuid(b"topic-id-of-test")
END = TransactionEnd(7, 0, 0, True)
HERE, ELSEWHERE, GONE = (TopicPartition("t", index) for index in range(3))
AFTER, BEFORE = 10, 30  # epochs of a broker that the image has, and does not have


class Local:
    """This broker's partitions."""

    async def write(
        self, end: TransactionEnd, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, ErrorCode]:
        assert list(partitions) in ([], [HERE])
        return dict.fromkeys(partitions, ErrorCode.NOT_ENOUGH_REPLICAS)


def image() -> MetadataImage:
    delta = MetadataDelta(EMPTY)
    delta.replay(TopicRecord(name="t", topic_id=TOPIC_ID))
    for index, leader in enumerate((NODE_ID, 2)):
        delta.replay(
            PartitionRecord(
                partition_id=index,
                topic_id=TOPIC_ID,
                replicas=[leader],
                isr=[leader],
                removing_replicas=[],
                adding_replicas=[],
                leader=leader,
            )
        )
    return delta.after(Provenance(20, 1, 0))


@pytest.mark.parametrize(
    ("broker_epoch", "of_gone"),
    [
        (AFTER, ErrorCode.NONE),
        (BEFORE, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (-1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_each_partition_is_told_of(broker_epoch: int, of_gone: ErrorCode) -> None:
    routing = MarkerRouting(NODE_ID, lambda: broker_epoch, image, Local())
    found = asyncio.run(routing.send(END, [HERE, ELSEWHERE, GONE]))
    assert found == {
        HERE: ErrorCode.NOT_ENOUGH_REPLICAS,
        ELSEWHERE: ErrorCode.NOT_LEADER_OR_FOLLOWER,
        GONE: of_gone,
    }
