"""What the driver asks of the brokers to plan a read: partitions, offsets, sizes; and progress.

Each function asks all nodes at once, so planning costs a round trip however many partitions there
are; it tries again what may pass.

Not here: reading records (fetching.py), what the answers mean for a query (source_planner.py).
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from snakka.client.cluster import Cluster
from snakka.client.committed import commit_offsets
from snakka.client.errors import ClientError
from snakka.client.list_offsets import IsolationLevel, list_offsets
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.records import TopicPartition
from snakka.pipeline.offsets import At, Offsets
from snakka.pipeline.options import Subscription
from snakka.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from snakka.protocol.messages.metadata import MetadataRequest, MetadataResponse

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


async def find_offsets(
    cluster: Cluster, places: Mapping[TopicPartition, At], *, is_read_committed: bool
) -> Offsets:
    """The offset of each place; NONE_THAT_LATE where no record is as late as a timestamp."""
    timestamps = {
        where: at.offset if at.timestamp_ms is None else at.timestamp_ms
        for where, at in places.items()
        if at.offset < 0 or at.timestamp_ms is not None
    }
    found = await list_offsets(cluster, timestamps, IsolationLevel(is_read_committed))
    return {
        where: found[where].offset if where in found else at.offset for where, at in places.items()
    }


async def _by_leader(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[int, list[TopicPartition]]:
    led: dict[int, list[TopicPartition]] = {}
    for each in partitions:
        info = await cluster.get_leader(each.topic, each.partition)
        led.setdefault(info.leader_id, []).append(each)
    return led


async def log_sizes(
    cluster: Cluster, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, int]:
    """The bytes of each partition's log, as far as that may be asked: they serve for estimates."""
    sizes: dict[TopicPartition, int] = {}
    # Asked once: a node that cannot be reached now tells next time.
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
        except ClientError:
            continue
        for directory in answer.results:
            for topic in directory.topics:
                for partition in topic.partitions:
                    where = TopicPartition(topic.name, partition.partition_index)
                    sizes[where] = partition.partition_size
    return sizes


async def commit_progress(cluster: Cluster, group_id: str, offsets: Offsets) -> None:
    """Stores how far a query is as the offsets of a group without members, for its lag to show."""
    committed = {where: CommittedOffset(offset) for where, offset in offsets.items()}
    await commit_offsets(cluster, GroupMember(group_id), committed)
