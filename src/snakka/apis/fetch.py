"""Fetch (key 1): read record batches, as a consumer.

KIP-74 limits over all partitions, KIP-98 isolation, KIP-227 sessions (v7), KIP-320 leader epochs,
KIP-516 topic ids (v13), KIP-595 diverging epochs (v12), KIP-951 leader hints (v16).
A fetch that finds less than `min_bytes` waits for its partitions to move on; of those only the ones
that did are read anew. An incremental one reads what changed since the last, and stops where its
limit is reached: what it did not come to is first in the next.
Not here: sessions and their order (replication/fetch_sessions.py).
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.apis.leader_hints import Leader, endpoints, find_leader
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from snakka.protocol.types import Uuid
from snakka.replication.errors import (
    FetchSessionNotFoundError,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpochError,
)
from snakka.replication.fetch_sessions import (
    NO_SESSION,
    NOT_TOLD,
    FetchedPartition,
    FetchSession,
)
from snakka.replication.parked import wait_for_change
from snakka.replication.replica import PartitionRead, Replica
from snakka.storage import epochs
from snakka.storage.cold import when_warm
from snakka.storage.read import LogRead, Run

_READ_COMMITTED: Final = 1
_COPY_BYTES_MAX: Final = 32 * 1024  # up to here copying costs less than a sendfile of its own
_NO_OFFSET: Final = -1
_SESSION_ERRORS: Final = (
    FetchSessionNotFoundError,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpochError,
)
_HINTED: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
_FIRST_WITH_HINTS: Final = 16
_FIRST_WITH_TOPIC_IDS: Final = 13


class FileRecords:
    """Records that leave straight from their files."""

    __slots__ = ("_size_bytes", "ranges")

    def __init__(self, read: LogRead) -> None:
        self.ranges: tuple[Run, ...] = read.runs
        self._size_bytes = read.size_bytes

    def __len__(self) -> int:
        return self._size_bytes


class _Found(NamedTuple):
    """What a read of one partition brought."""

    read: PartitionRead | None
    error: ErrorCode = ErrorCode.NONE
    size_bytes: int = 0
    is_drained: bool = False  # nothing more is to be had until the partition changes


@api(ApiKey.FETCH)
async def fetch(request: FetchRequest, context: RequestContext) -> FetchResponse:
    sessions = context.services.fetch_sessions
    try:
        session = sessions.open(
            request,
            uses_topic_ids=context.version >= _FIRST_WITH_TOPIC_IDS,
            now_ms=context.now_ms(),
        )
    except _SESSION_ERRORS as error:
        return FetchResponse(throttle_time_ms=0, error_code=error_code(error), responses=[])
    epoch = session.epoch
    fetching = _Fetching(request, session, context)
    try:
        await fetching.run()
        if session.epoch != epoch:  # the client has gone on without this answer
            return FetchResponse(
                throttle_time_ms=0,
                error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                session_id=session.id,
                responses=[],
            )
        told = fetching.told()
        sessions.keep(session, context.now_ms())
    finally:
        fetching.put_back()
        sessions.release(session)
    return _response(session, told, context)


class _Fetching:
    """One fetch under way: what it has read so far, partition by partition."""

    def __init__(
        self, request: FetchRequest, session: FetchSession, context: RequestContext
    ) -> None:
        self._request = request
        self._session = session
        self._context = context
        limit_bytes = context.services.config.get_int("fetch.max.bytes")
        self._max_bytes = min(request.max_bytes, limit_bytes)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._found: dict[FetchedPartition, _Found] = {}
        self._unread: list[FetchedPartition] = []
        self._changed: deque[FetchedPartition] = deque()
        self._size_bytes = 0
        self._has_error = False

    async def run(self) -> None:
        """Reads until that is an answer, or time is up."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + self._request.max_wait_ms / 1000
        await self._read_changed()
        while not self._is_enough():
            left_s = deadline_s - loop.time()
            if left_s <= 0:
                break
            await wait_for_change(self._session, left_s)
            await self._read_changed()

    def told(self) -> list[tuple[FetchedPartition, PartitionData]]:
        """The answer; the session remembers what its client knows then."""
        is_incremental = self._session.is_incremental
        told = []
        for partition, found in self._found.items():
            read = found.read
            high_watermark = NOT_TOLD if read is None else read.high_watermark
            log_start_offset = NOT_TOLD if read is None else read.log_start_offset
            if (
                not is_incremental
                or read is None
                or found.size_bytes
                or read.diverging is not None
                or partition.high_watermark != high_watermark
                or partition.log_start_offset != log_start_offset
            ):
                told.append((partition, _partition_data(partition, found, self._context)))
            partition.high_watermark = high_watermark
            partition.log_start_offset = log_start_offset
        return told

    def put_back(self) -> None:
        """The next fetch is to read what this one did not come to, or would find again."""
        if self._session.id == NO_SESSION:
            return
        rest = {each: found for each, found in self._found.items() if not found.is_drained}
        served = [each for each, found in rest.items() if found.size_bytes]
        waiting = [each for each, found in rest.items() if not found.size_bytes]
        self._session.put_back([*self._unread, *self._changed, *waiting], served)

    def _is_enough(self) -> bool:
        is_nothing_asked = not len(self._session)
        return self._has_error or is_nothing_asked or self._size_bytes >= self._min_bytes

    async def _read_changed(self) -> None:
        """Reads what changed since the last time, within the limits."""
        self._changed.extend(self._session.take_changed())
        while self._changed:
            await self._read_within_limits(self._changed[0])
            self._changed.popleft()

    async def _read_within_limits(self, partition: FetchedPartition) -> None:
        before = self._found.pop(partition, None)
        if before is not None:
            self._size_bytes -= before.size_bytes
        left = max(0, self._max_bytes - self._size_bytes)
        if self._size_bytes and not left and self._session.is_incremental:
            self._unread.append(partition)
            return
        found = await when_warm(partial(self._read, partition, left))
        self._found[partition] = found
        self._size_bytes += found.size_bytes
        self._has_error = self._has_error or found.error is not ErrorCode.NONE

    def _read(self, partition: FetchedPartition, left: int) -> _Found:
        asked = partition.asked
        try:
            replica = self._find_replica(partition)
            partition.found_at(replica.waiters)
            read = replica.read(
                asked.fetch_offset,
                max_bytes=min(asked.partition_max_bytes, left),
                current_leader_epoch=asked.current_leader_epoch,
                last_fetched_epoch=asked.last_fetched_epoch,
                read_committed=self._request.isolation_level == _READ_COMMITTED,
                min_one_batch=not self._size_bytes,
            )
        except TOLD_ERRORS as error:
            return _Found(None, error_code(error))
        size_bytes = read.records.size_bytes
        is_drained = not size_bytes and read.is_at_end
        return _Found(read, size_bytes=size_bytes, is_drained=is_drained)

    def _find_replica(self, partition: FetchedPartition) -> Replica:
        replicas, (topic, index) = self._context.replicas, partition.key
        if isinstance(topic, str):
            return replicas.get(topic, index)
        return replicas.get_by_id(topic, index)


def _refusal(
    partition: FetchedPartition, code: ErrorCode, context: RequestContext
) -> PartitionData:
    leader = Leader()
    if context.version >= _FIRST_WITH_HINTS and code in _HINTED:
        leader = find_leader(context, *partition.key)
    return PartitionData(
        partition_index=partition.asked.partition,
        error_code=code,
        high_watermark=_NO_OFFSET,
        current_leader=LeaderIdAndEpoch(
            leader_id=leader.leader_id, leader_epoch=leader.leader_epoch
        ),
        aborted_transactions=[],
        records=b"",
    )


def _partition_data(
    partition: FetchedPartition, found: _Found, context: RequestContext
) -> PartitionData:
    read = found.read
    if read is None:
        return _refusal(partition, found.error, context)
    if read.diverging is not None:
        return _diverged(partition, read, read.diverging)
    # What is not in memory is left to the connection, which waits for the disk in a thread.
    copied = read.records.find_copy() if found.size_bytes <= _COPY_BYTES_MAX else None
    return PartitionData(
        partition_index=partition.asked.partition,
        error_code=ErrorCode.NONE,
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start_offset,
        aborted_transactions=_aborted(read),
        records=FileRecords(read.records) if copied is None else copied,
    )


def _diverged(
    partition: FetchedPartition, read: PartitionRead, agreed: epochs.EpochEndOffset
) -> PartitionData:
    return PartitionData(
        partition_index=partition.asked.partition,
        error_code=ErrorCode.NONE,
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start_offset,
        diverging_epoch=EpochEndOffset(epoch=agreed.epoch, end_offset=agreed.end_offset),
        aborted_transactions=[],
        records=b"",
    )


def _aborted(read: PartitionRead) -> list[AbortedTransaction] | None:
    if read.aborted is None:
        return None
    return [
        AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
        for each in read.aborted
    ]


def _response(
    session: FetchSession,
    told: list[tuple[FetchedPartition, PartitionData]],
    context: RequestContext,
) -> FetchResponse:
    topics: dict[str | Uuid, FetchableTopicResponse] = {}
    for partition, data in told:
        topic = topics.get(partition.key[0])
        if topic is None:
            topic = FetchableTopicResponse(
                topic=partition.topic, topic_id=partition.topic_id, partitions=[]
            )
            topics[partition.key[0]] = topic
        topic.partitions.append(data)
    return FetchResponse(
        throttle_time_ms=0,
        session_id=session.id,
        responses=list(topics.values()),
        node_endpoints=_endpoints(told, context),
    )


def _endpoints(
    told: Iterable[tuple[FetchedPartition, PartitionData]], context: RequestContext
) -> list[NodeEndpoint]:
    leaders = [
        Leader(data.current_leader.leader_id, data.current_leader.leader_epoch)
        for _, data in told
        if data.error_code in _HINTED
    ]
    return [
        NodeEndpoint(node_id=each.broker_id, host=each.host, port=each.port, rack=each.rack)
        for each in endpoints(context, leaders)
    ]
