"""OffsetFetch: what a group has committed. An unknown group has committed nothing.

With require_stable a position that an open transaction is about to change is refused, so that its
consumer waits for the outcome (KIP-447).
"""

from collections.abc import Iterable
from typing import Final

from snakka.coordinators.decision import Decision
from snakka.coordinators.groups.offsets import Offsets, TopicPartition
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

_NO_OFFSET: Final = -1


def fetch(
    offsets: Offsets, request: OffsetFetchRequestGroup, *, require_stable: bool
) -> Decision[OffsetFetchResponseGroup]:
    """The positions that a group asks for; all of them where it names no topics."""
    topics = _all_topics(offsets, request.group_id) if request.topics is None else request.topics
    found = [
        OffsetFetchResponseTopics(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                _fetch_partition(
                    offsets, request.group_id, TopicPartition(topic.name, index), require_stable
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]
    return Decision(OffsetFetchResponseGroup(group_id=request.group_id, topics=found))


def _all_topics(offsets: Offsets, group_id: str) -> Iterable[OffsetFetchRequestTopics]:
    indexes: dict[str, list[int]] = {}
    for topic, index in offsets.of_group(group_id):
        indexes.setdefault(topic, []).append(index)
    return [
        OffsetFetchRequestTopics(name=topic, partition_indexes=sorted(found))
        for topic, found in indexes.items()
    ]


def _fetch_partition(
    offsets: Offsets, group_id: str, partition: TopicPartition, require_stable: bool
) -> OffsetFetchResponsePartitions:
    if require_stable and offsets.is_pending(group_id, partition):
        return _without_offset(partition.partition, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    committed = offsets.of_group(group_id).get(partition)
    if committed is None:
        return _without_offset(partition.partition, ErrorCode.NONE)
    return OffsetFetchResponsePartitions(
        partition_index=partition.partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        error_code=ErrorCode.NONE,
    )


def _without_offset(index: int, error: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=_NO_OFFSET, metadata="", error_code=error
    )
