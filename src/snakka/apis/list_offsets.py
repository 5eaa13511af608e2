"""ListOffsets (key 2): offsets by timestamp, or by the special timestamps for the ends of a log.

KIP-734 largest timestamp (v7), KIP-405 earliest local offset (v8), KIP-1005 latest tiered offset
(v9), KIP-1023 the first offset not yet tiered (v11). Nothing is tiered yet, so the earliest local
offset is the earliest one, nothing is the latest tiered, and nothing waits to be.
Not here: OFFSET_NOT_AVAILABLE (KIP-207) of a leader that does not know yet what is committed.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from snakka.replication.replica import Replica
from snakka.storage.cold import when_warm
from snakka.storage.lookup import (
    FoundTimestamp,
    find_max_timestamp,
    find_offset_by_timestamp,
)

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6

_FIRST_VERSION: Final = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
_NOTHING: Final = FoundTimestamp(-1, -1, -1)
_READ_COMMITTED: Final = 1
_CONSUMER: Final = -1  # the replica id of whoever is none


@api(ApiKey.LIST_OFFSETS)
async def list_offsets(request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    times = Counter(_places(request))
    answers = []
    for topic in request.topics:
        partitions = []
        for asked in topic.partitions:
            if times[topic.name, asked.partition_index] > 1:
                answer = _refusal(asked, ErrorCode.INVALID_REQUEST)
            else:
                find = partial(_partition, topic.name, asked, request, context)
                answer = await when_warm(find)
            partitions.append(answer)
        answers.append(ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
    return ListOffsetsResponse(topics=answers)


def _places(request: ListOffsetsRequest) -> Iterator[tuple[str, int]]:
    return (
        (topic.name, each.partition_index) for topic in request.topics for each in topic.partitions
    )


def _partition(
    topic: str, asked: ListOffsetsPartition, request: ListOffsetsRequest, context: RequestContext
) -> ListOffsetsPartitionResponse:
    first_version = _FIRST_VERSION.get(asked.timestamp)
    if asked.timestamp < 0 and (first_version is None or context.version < first_version):
        return _refusal(asked, ErrorCode.UNSUPPORTED_VERSION)
    try:
        replica = context.replicas.get(topic, asked.partition_index)
        replica.partition.check_leader(asked.current_leader_epoch)
        found = _find(replica, asked.timestamp, _visible_end(replica, request))
    except TOLD_ERRORS as error:
        return _refusal(asked, error_code(error))
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=ErrorCode.NONE,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if context.version >= 4 else -1,
    )


def _visible_end(replica: Replica, request: ListOffsetsRequest) -> int:
    """What a replica asks for is everything; a consumer sees what is committed."""
    log = replica.log
    if request.replica_id != _CONSUMER:
        return log.log_end_offset
    if request.isolation_level == _READ_COMMITTED:
        return log.last_stable_offset
    return log.high_watermark


def _find(replica: Replica, timestamp: int, end: int) -> FoundTimestamp:
    log = replica.log
    if timestamp == LATEST:
        return FoundTimestamp(-1, end, replica.partition.assignment.leader_epoch)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        start = log.log_start_offset
        return FoundTimestamp(-1, start, _epoch_of(replica, start))
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return _NOTHING
    if timestamp == MAX_TIMESTAMP:
        found = find_max_timestamp(log)
    else:
        found = find_offset_by_timestamp(log, timestamp)
    return found if found is not None and found.offset < end else _NOTHING


def _epoch_of(replica: Replica, offset: int) -> int:
    epoch = replica.log.epochs.find_epoch(offset)
    return -1 if epoch is None else epoch


def _refusal(asked: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)
