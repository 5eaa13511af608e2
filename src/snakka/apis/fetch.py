"""Fetch (key 1): read record batches, as a consumer.

KIP-74 limits over all partitions, KIP-98 isolation, KIP-320 leader epochs, KIP-516 topic ids (v13).
A fetch that finds less than `min_bytes` waits for a partition to move on, and is then read anew.
Every fetch is a full one: fetch sessions (KIP-227) are refused with session id 0, which tells the
client to go on without. Not here: fetches of followers, who come with more than one broker.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from snakka.replication.parked import RecordsWait
from snakka.replication.replica import PartitionRead, Replica
from snakka.storage.read import LogRead, Run

_READ_COMMITTED: Final = 1
_COPY_BYTES_MAX: Final = 32 * 1024  # up to here copying costs less than a sendfile of its own
_NO_OFFSET: Final = -1


class FileRecords:
    """Records that leave straight from their files."""

    __slots__ = ("_size_bytes", "ranges")

    def __init__(self, read: LogRead) -> None:
        self.ranges: tuple[Run, ...] = read.runs
        self._size_bytes = read.size_bytes

    def __len__(self) -> int:
        return self._size_bytes


@dataclass(slots=True)
class _Asked:
    """One partition of a fetch, and what was found of it."""

    topic: FetchTopic
    partition: FetchPartition
    replica: Replica | None = None
    read: PartitionRead | None = None
    error: ErrorCode = ErrorCode.NONE


@api(ApiKey.FETCH)
async def fetch(request: FetchRequest, context: RequestContext) -> FetchResponse:
    asked = list(_find_replicas(request, context))
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + request.max_wait_ms / 1000
    while not _read_all(asked, request):
        left_s = deadline_s - loop.time()
        if left_s <= 0:
            break
        waiters = [each.replica.waiters for each in asked if each.replica is not None]
        await RecordsWait(waiters).wait(left_s)
    return _response(request, asked)


def _find_replicas(request: FetchRequest, context: RequestContext) -> Iterator[_Asked]:
    for topic in request.topics:
        for partition in topic.partitions:
            asked = _Asked(topic, partition)
            try:
                if context.version >= 13:
                    asked.replica = context.replicas.get_by_id(topic.topic_id, partition.partition)
                else:
                    asked.replica = context.replicas.get(topic.topic, partition.partition)
            except TOLD_ERRORS as error:
                asked.error = error_code(error)
            yield asked


def _read_all(asked: list[_Asked], request: FetchRequest) -> bool:
    """Reads all partitions within the limits; says whether that is an answer already."""
    left = request.max_bytes
    found = 0
    has_error = not asked
    for each in asked:
        size = _read(each, left, request, is_first=not found)
        found += size
        left = max(0, left - size)
        has_error = has_error or each.error is not ErrorCode.NONE
    return has_error or found >= request.min_bytes


def _read(asked: _Asked, left: int, request: FetchRequest, *, is_first: bool) -> int:
    if asked.replica is None:
        return 0
    partition = asked.partition
    try:
        asked.read = asked.replica.read(
            partition.fetch_offset,
            max_bytes=min(partition.partition_max_bytes, left),
            current_leader_epoch=partition.current_leader_epoch,
            read_committed=request.isolation_level == _READ_COMMITTED,
            min_one_batch=is_first,
        )
    except TOLD_ERRORS as error:
        asked.read, asked.error = None, error_code(error)
        return 0
    return asked.read.records.size_bytes


def _response(request: FetchRequest, asked: list[_Asked]) -> FetchResponse:
    partitions = iter([_partition_data(each) for each in asked])
    return FetchResponse(
        throttle_time_ms=0,
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[next(partitions) for _ in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _partition_data(asked: _Asked) -> PartitionData:
    read = asked.read
    if read is None:
        return PartitionData(
            partition_index=asked.partition.partition,
            error_code=asked.error,
            high_watermark=_NO_OFFSET,
            aborted_transactions=[],
            records=b"",
        )
    is_small = read.records.size_bytes <= _COPY_BYTES_MAX
    return PartitionData(
        partition_index=asked.partition.partition,
        error_code=ErrorCode.NONE,
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start_offset,
        aborted_transactions=_aborted(read),
        records=read.records.copy() if is_small else FileRecords(read.records),
    )


def _aborted(read: PartitionRead) -> list[AbortedTransaction] | None:
    if read.aborted is None:
        return None
    return [
        AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
        for each in read.aborted
    ]
