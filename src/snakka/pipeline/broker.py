"""What the driver asks of the brokers to plan a read: partitions, offsets, sizes; and progress.

Each function asks all nodes at once, so planning costs a round trip however many partitions there
are; it tries again what may pass.

Not here: reading records (fetching.py), what the answers mean for a query (source_planner.py).
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from snakka.client.cluster import Cluster, CoordinatorType
from snakka.client.errors import KafkaError, UnsupportedRequestError, check
from snakka.pipeline.offsets import At, Offsets, TopicPartition
from snakka.pipeline.options import Subscription
from snakka.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from snakka.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from snakka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from snakka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)

CONSUMER: Final = -1  # the replica id of somebody who is none
NONE_THAT_LATE: Final = -1  # the offset for a timestamp later than any


async def find_partitions(cluster: Cluster, subscription: Subscription) -> list[TopicPartition]:
    """The partitions that there are of a subscription."""
    if subscription.partitions:
        return list(subscription.partitions)
    names = subscription.topics
    if subscription.pattern is not None:
        names = await _matching(cluster, subscription)
    for each in names:
        cluster.mark_stale(each)
    topics = await asyncio.gather(*map(cluster.get_topic, names))
    return sorted(TopicPartition(each.name, index) for each in topics for index in each.partitions)


async def _matching(cluster: Cluster, subscription: Subscription) -> tuple[str, ...]:
    assert subscription.pattern is not None
    answer = await cluster.ask_any(MetadataRequest(topics=None), MetadataResponse)
    return tuple(
        each.name
        for each in answer.topics
        if each.name and not each.is_internal and subscription.pattern.fullmatch(each.name)
    )


async def list_offsets(
    cluster: Cluster, places: Mapping[TopicPartition, At], *, is_read_committed: bool
) -> Offsets:
    """The offset of each place; NONE_THAT_LATE where no record is as late as a timestamp."""
    asked: dict[TopicPartition, int] = {}
    found: Offsets = {}
    for where, at in places.items():
        if at.timestamp_ms is not None:
            asked[where] = at.timestamp_ms
        elif at.offset < 0:
            asked[where] = at.offset
        else:
            found[where] = at.offset

    async def attempt() -> None:
        left = {where: timestamp for where, timestamp in asked.items() if where not in found}
        answers = await asyncio.gather(
            *(
                _ask_leader(
                    cluster, leader_id, {each: left[each] for each in led}, is_read_committed
                )
                for leader_id, led in (await _by_leader(cluster, left)).items()
            ),
            return_exceptions=True,
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            found.update(answer)

    await cluster.retrying(attempt)
    return found


async def _by_leader(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[int, list[TopicPartition]]:
    led: dict[int, list[TopicPartition]] = {}
    for each in partitions:
        info = await cluster.get_leader(each.topic, each.partition)
        led.setdefault(info.leader_id, []).append(each)
    return led


async def _ask_leader(
    cluster: Cluster,
    leader_id: int,
    timestamps: Mapping[TopicPartition, int],
    is_read_committed: bool,
) -> Offsets:
    by_topic: dict[str, list[ListOffsetsPartition]] = {}
    for where, timestamp in timestamps.items():
        by_topic.setdefault(where.topic, []).append(
            ListOffsetsPartition(partition_index=where.partition, timestamp=timestamp)
        )
    request = ListOffsetsRequest(
        replica_id=CONSUMER,
        isolation_level=int(is_read_committed),
        topics=[ListOffsetsTopic(name=name, partitions=each) for name, each in by_topic.items()],
        timeout_ms=cluster.settings.request_timeout_ms,
    )
    answer = await cluster.ask_node(leader_id, request, ListOffsetsResponse)
    found = {}
    for topic in answer.topics:
        for partition in topic.partitions:
            if partition.error_code:
                cluster.mark_stale(topic.name)
            check(partition.error_code)
            found[TopicPartition(topic.name, partition.partition_index)] = partition.offset
    return found


async def log_sizes(
    cluster: Cluster, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, int]:
    """The bytes of each partition's log, as far as that may be asked: they serve for estimates."""
    sizes: dict[TopicPartition, int] = {}
    for leader_id, led in (await _by_leader(cluster, partitions)).items():
        by_topic: dict[str, list[int]] = {}
        for each in led:
            by_topic.setdefault(each.topic, []).append(each.partition)
        request = DescribeLogDirsRequest(
            topics=[
                DescribableLogDirTopic(topic=name, partitions=indexes)
                for name, indexes in by_topic.items()
            ]
        )
        try:
            answer = await cluster.ask_node(leader_id, request, DescribeLogDirsResponse)
        except (KafkaError, UnsupportedRequestError):
            continue
        for directory in answer.results:
            for topic in directory.topics:
                for partition in topic.partitions:
                    where = TopicPartition(topic.name, partition.partition_index)
                    sizes[where] = partition.partition_size
    return sizes


async def commit_progress(cluster: Cluster, group_id: str, offsets: Offsets) -> None:
    """Stores how far a query is as the offsets of a group without members, for its lag to show."""
    by_topic: dict[str, list[OffsetCommitRequestPartition]] = {}
    for where, offset in offsets.items():
        by_topic.setdefault(where.topic, []).append(
            OffsetCommitRequestPartition(
                partition_index=where.partition, committed_offset=offset, committed_metadata=""
            )
        )
    topics = []
    for name, partitions in by_topic.items():
        info = await cluster.get_topic(name)
        topics.append(OffsetCommitRequestTopic(name=name, topic_id=info.id, partitions=partitions))
    request = OffsetCommitRequest(group_id=group_id, member_id="", topics=topics)
    answer = await cluster.ask_coordinator(
        group_id, CoordinatorType.GROUP, request, OffsetCommitResponse
    )
    for topic in answer.topics:
        for partition in topic.partitions:
            check(partition.error_code)
