"""Produce (key 0): append batches to the partitions this broker leads, then wait for acks.

KIP-98 idempotence and transactions, KIP-516 topic ids (v13), KIP-951 leader hints (v10). Partitions
are appended to before anything is waited for, so pipelined requests of one client keep their order.
Only the first batch of a transaction in a partition waits, until the coordinator vouches for it
(KIP-890).
Not here: batch validation (storage/validate.py), the topic's rules (replication/admission.py), the
high watermark (replication/partition.py).
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, UnansweredError, error_code
from snakka.apis.leader_hints import Leader, endpoints, find_leader
from snakka.apis.registry import api
from snakka.apis.transaction_verification import Unverified, Vouching, find_unverified, vouch
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from snakka.protocol.records.batch import is_transactional
from snakka.protocol.types import ZERO_UUID, Buffer, Uuid, format_uuid
from snakka.replication.admission import InvalidRecordsError
from snakka.replication.errors import (
    InvalidRequiredAcksError,
    NotLeaderError,
    UnknownPartitionError,
    UnknownTopicIdError,
)
from snakka.replication.replica import Replica
from snakka.replication.replicas import wait_for_commit
from snakka.storage.errors import InvalidRecordError
from snakka.storage.log_state import Appended

ACKS_NONE: Final = 0
ACKS_LEADER: Final = 1
ACKS_ALL: Final = -1

_NO_OFFSET: Final = -1
_FIRST_WITH_TOPIC_IDS: Final = 13
_FIRST_WITH_HINTS: Final = 10

# Producers retry what they know, and after this one without new metadata.
_VOUCHING: Final = Vouching(
    first_of_v2=12, knows_abortable_from=11, come_again=ErrorCode.NOT_ENOUGH_REPLICAS
)


@dataclass(slots=True)
class _Append:
    """What came of one partition's batch."""

    topic: TopicProduceData
    index: int
    records: Buffer | None
    replica: Replica | None = None
    appended: Appended | None = None
    error: Exception | None = None
    unverified: Unverified | None = None


@api(ApiKey.PRODUCE)
async def produce(request: ProduceRequest, context: RequestContext) -> ProduceResponse | None:
    appends = [
        _Append(topic, data.index, data.records)
        for topic in request.topic_data
        for data in topic.partition_data
    ]
    early = [append for append in appends if not _try(append, request, context)]
    _write(appends)
    if early:
        await _append_on_arrival(early, request, context)
    if any(append.unverified is not None for append in appends):
        await _append_verified(appends, request, context)
    if request.acks == ACKS_NONE:
        _tell_failures(appends)
        return None
    if request.acks == ACKS_ALL:
        await _wait(appends, request.timeout_ms)
        await _make_durable(appends, context)
    return _response(request, appends, context)


def _try(append: _Append, request: ProduceRequest, context: RequestContext) -> bool:
    """Appends, unless the partition is still being made here."""
    acks, append.error = request.acks, None
    try:
        if acks not in (ACKS_NONE, ACKS_LEADER, ACKS_ALL):
            raise InvalidRequiredAcksError(f"acks={acks} is not 0, 1 or -1")
        if context.version >= _FIRST_WITH_TOPIC_IDS:
            append.replica = context.replicas.get_by_id(append.topic.topic_id, append.index)
        else:
            append.replica = context.replicas.get(append.topic.name, append.index)
        batch = _batch(append.records)
        if is_transactional(batch):
            append.unverified = find_unverified(append.replica, batch, request.transactional_id)
        if append.unverified is None:
            append.appended = _append_batch(append.replica, batch, acks, context)
    except (UnknownPartitionError, UnknownTopicIdError) as error:
        append.error = _told(error)
        return not context.replicas.arrivals.is_due(_topic_id(append, context), append.index)
    except TOLD_ERRORS as error:
        append.error = _told(error)
    return True


def _topic_id(append: _Append, context: RequestContext) -> Uuid:
    if context.version >= _FIRST_WITH_TOPIC_IDS:
        return append.topic.topic_id
    return context.image.topics.ids.get(append.topic.name) or ZERO_UUID


async def _append_on_arrival(
    appends: Iterable[_Append], request: ProduceRequest, context: RequestContext
) -> None:
    """Waits for partitions that are being made, as long as the client does for its answer."""
    loop, arrivals = asyncio.get_running_loop(), context.replicas.arrivals

    def act(append: _Append, done: "asyncio.Future[None]") -> None:
        if not done.done():
            _try(append, request, context)
            _write([append])
            done.set_result(None)

    waiting = []
    for append in appends:
        if append.records is not None:  # the buffer that they were received into is used again
            append.records = bytearray(append.records)
        done = loop.create_future()
        arrivals.add(_topic_id(append, context), append.index, partial(act, append, done))
        waiting.append(done)
    _, late = await asyncio.wait(waiting, timeout=request.timeout_ms / 1000)
    for done in late:
        done.cancel()


def _append_batch(
    replica: Replica, batch: bytearray | memoryview, acks: int, context: RequestContext
) -> Appended:
    return replica.append_from_client(batch, needs_all=acks == ACKS_ALL, now_ms=context.now_ms())


def _told(error: Exception) -> Exception:
    """Without its traceback, which would hold the request's bytes until the garbage collector."""
    return error.with_traceback(None)


def _batch(records: Buffer | None) -> bytearray | memoryview:
    """The batch in place, so that its offset can be written into it."""
    if records is None:
        raise InvalidRecordError("no batch at all")
    return bytearray(records) if isinstance(records, bytes) else records


async def _append_verified(
    appends: list[_Append], request: ProduceRequest, context: RequestContext
) -> None:
    """Appends what the coordinator vouches for, of one producer after the other."""
    waiting: dict[Producer, list[_Append]] = {}
    for append in appends:
        if append.unverified is not None:
            waiting.setdefault(append.unverified.producer, []).append(append)
    for producer, its in waiting.items():
        partitions = {_partition(append) for append in its}
        transactional_id = request.transactional_id or ""
        begin_again = partial(_begin_again, its)
        codes = await vouch(transactional_id, producer, partitions, context, _VOUCHING, begin_again)
        for append in its:
            _append_one_verified(append, codes[_partition(append)], request, context)
        _write(its)


def _begin_again(appends: Iterable[_Append]) -> None:
    for append in appends:
        assert append.replica is not None
        assert append.unverified is not None
        append.unverified = append.unverified.begun_again(append.replica)


def _append_one_verified(
    append: _Append, code: ErrorCode, request: ProduceRequest, context: RequestContext
) -> None:
    assert append.replica is not None
    assert append.unverified is not None
    if code is not ErrorCode.NONE:
        append.error = CoordinatorError(code)
        return
    append.unverified.verification.is_confirmed = True
    try:
        batch = append.unverified.batch
        append.appended = _append_batch(append.replica, batch, request.acks, context)
    except TOLD_ERRORS as error:
        append.error = _told(error)


def _partition(append: _Append) -> TopicPartition:
    assert append.replica is not None
    return TopicPartition(append.replica.topic, append.replica.index)


def _write(appends: Iterable[_Append]) -> None:
    for append in appends:
        if append.replica is not None and append.appended is not None:
            try:
                append.replica.write()
            except TOLD_ERRORS as error:
                append.appended, append.error = None, _told(error)


def _tell_failures(appends: Iterable[_Append]) -> None:
    """A client that waits for no answer learns from its connection's end to ask for metadata."""
    for append in appends:
        if append.error is not None:
            place = f"{append.topic.name or format_uuid(append.topic.topic_id)}-{append.index}"
            raise UnansweredError(f"acks=0, and {place} was not written: {append.error}")


async def _wait(appends: list[_Append], timeout_ms: int) -> None:
    pending = [
        (append.replica, append.appended)
        for append in appends
        if append.replica is not None and append.appended is not None
    ]
    try:
        await wait_for_commit(pending, timeout_ms)
    except TOLD_ERRORS as error:
        for append in appends:
            if append.appended and append.replica:
                is_committed = append.appended.last_offset < append.replica.log.high_watermark
                append.error = append.error if is_committed else error


async def _make_durable(appends: list[_Append], context: RequestContext) -> None:
    """Where the topic flushes every message, acks=all is to survive a power loss."""
    waiting = [
        append
        for append in appends
        if append.replica is not None
        and append.appended is not None
        and append.replica.log.config.flush_messages <= 1
    ]
    if waiting:
        commit = context.services.group_commit.commit
        results = await asyncio.gather(
            *(commit(each.replica.log) for each in waiting if each.replica is not None),
            return_exceptions=True,
        )
        for append, result in zip(waiting, results, strict=True):
            if isinstance(result, Exception):
                append.error = result


def _response(
    request: ProduceRequest, appends: list[_Append], context: RequestContext
) -> ProduceResponse:
    answers = [_partition_response(append, context) for append in appends]
    has_failed = any(append.error is not None for append in appends)
    in_order = iter(answers)
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[next(in_order) for _ in topic.partition_data],
            )
            for topic in request.topic_data
        ],
        node_endpoints=_endpoints(answers, context) if has_failed else [],
    )


def _partition_response(append: _Append, context: RequestContext) -> PartitionProduceResponse:
    if append.error is not None:
        return _refusal(append, append.error, context)
    assert append.appended is not None
    assert append.replica is not None
    stamped = append.appended.log_append_time
    return PartitionProduceResponse(
        index=append.index,
        error_code=ErrorCode.NONE,
        base_offset=append.appended.first_offset,
        log_append_time_ms=-1 if stamped is None else stamped,
        log_start_offset=append.replica.log.log_start_offset,
    )


def _refusal(
    append: _Append, error: Exception, context: RequestContext
) -> PartitionProduceResponse:
    indexes = error.indexes if isinstance(error, InvalidRecordsError) else ()
    leader = Leader()
    if isinstance(error, NotLeaderError) and context.version >= _FIRST_WITH_HINTS:
        by_id = context.version >= _FIRST_WITH_TOPIC_IDS
        topic = append.topic.topic_id if by_id else append.topic.name
        leader = find_leader(context, topic, append.index)
    return PartitionProduceResponse(
        index=append.index,
        error_code=error_code(error),
        base_offset=_NO_OFFSET,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=each, batch_index_error_message=str(error))
            for each in indexes
        ],
        error_message=str(error),
        current_leader=LeaderIdAndEpoch(
            leader_id=leader.leader_id, leader_epoch=leader.leader_epoch
        ),
    )


def _endpoints(
    answers: list[PartitionProduceResponse], context: RequestContext
) -> list[NodeEndpoint]:
    hinted = (each.current_leader for each in answers if each.error_code)
    leaders = [Leader(each.leader_id, each.leader_epoch) for each in hinted]
    return [
        NodeEndpoint(node_id=each.broker_id, host=each.host, port=each.port, rack=each.rack)
        for each in endpoints(context, leaders)
    ]
