"""Offsets by time, and the ends of partitions, asked of their leaders."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError, KafkaError, UnreachableError, kafka_error
from snakka.client.offsets import by_topic
from snakka.client.records import TopicPartition
from snakka.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

LATEST: Final = -1
EARLIEST: Final = -2

_CONSUMER: Final = -1


class IsolationLevel(IntEnum):
    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class FoundOffset(NamedTuple):
    """The offset is -1 where no record is as young as asked for."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


async def list_offsets(
    cluster: Cluster,
    timestamps: Mapping[TopicPartition, int],
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, FoundOffset]:
    """The first offset from each time on; LATEST and EARLIEST stand for the ends."""
    found: dict[TopicPartition, FoundOffset] = {}

    async def attempt() -> None:
        missing = {each: time for each, time in timestamps.items() if each not in found}
        by_node: dict[int, dict[TopicPartition, int]] = defaultdict(dict)
        for partition, time_ms in missing.items():
            leader = await cluster.get_leader(*partition)
            by_node[leader.leader_id][partition] = time_ms
        asking = (_ask(cluster, node, wanted, isolation) for node, wanted in by_node.items())
        failure: ClientError | None = None
        for outcome in await asyncio.gather(*asking):
            for partition, each in outcome.items():
                if isinstance(each, ClientError):
                    cluster.mark_stale(partition.topic)
                    failure = each
                else:
                    found[partition] = each
        if failure is not None:
            raise failure

    await cluster.retrying(attempt)
    return found


async def _ask(
    cluster: Cluster,
    node_id: int,
    timestamps: Mapping[TopicPartition, int],
    isolation: IsolationLevel,
) -> dict[TopicPartition, FoundOffset | ClientError]:
    request = ListOffsetsRequest(
        replica_id=_CONSUMER,
        isolation_level=isolation,
        topics=list(_topics(cluster, timestamps)),
        timeout_ms=cluster.settings.request_timeout_ms,
    )
    try:
        answer = await cluster.ask_node(node_id, request, ListOffsetsResponse)
    except (UnreachableError, KafkaError) as error:
        return dict.fromkeys(timestamps, error)
    return {
        TopicPartition(topic.name, each.partition_index): _found(each)
        for topic in answer.topics
        for each in topic.partitions
    }


def _topics(
    cluster: Cluster, timestamps: Mapping[TopicPartition, int]
) -> Iterable[ListOffsetsTopic]:
    for topic, partitions in by_topic(timestamps):
        yield ListOffsetsTopic(
            name=topic,
            partitions=[
                ListOffsetsPartition(
                    partition_index=index,
                    current_leader_epoch=cluster.leader_epoch(topic, index),
                    timestamp=time_ms,
                )
                for index, time_ms in partitions
            ],
        )


def _found(told: ListOffsetsPartitionResponse) -> FoundOffset | ClientError:
    if told.error_code:
        return kafka_error(told.error_code)
    return FoundOffset(told.offset, told.timestamp, told.leader_epoch)
