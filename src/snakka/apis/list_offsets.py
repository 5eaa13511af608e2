"""ListOffsets (key 2): offsets by timestamp, or by the special timestamps for the ends of a log.

KIP-734 largest timestamp (v7), KIP-405 earliest local offset (v8), KIP-1005 latest tiered offset
(v9), KIP-1023 the first offset not yet tiered (v11). Nothing is tiered yet, so the earliest local
offset is the earliest one, and there is no latest tiered offset.
"""

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
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
_NOTHING: Final = FoundTimestamp(-1, -1, -1)
_READ_COMMITTED: Final = 1


@api(ApiKey.LIST_OFFSETS)
async def list_offsets(request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    read_committed = request.isolation_level == _READ_COMMITTED
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _partition(topic.name, each, context, read_committed=read_committed)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _partition(
    topic: str, asked: ListOffsetsPartition, context: RequestContext, *, read_committed: bool
) -> ListOffsetsPartitionResponse:
    if context.version < _FIRST_VERSION.get(asked.timestamp, 0):
        return _refusal(asked, ErrorCode.UNSUPPORTED_VERSION)
    try:
        replica = context.replicas.get(topic, asked.partition_index)
        replica.partition.check_leader(asked.current_leader_epoch)
        found = _find(replica, asked.timestamp, read_committed=read_committed)
    except TOLD_ERRORS as error:
        return _refusal(asked, error_code(error))
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=ErrorCode.NONE,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if context.version >= 4 else -1,
    )


def _find(replica: Replica, timestamp: int, *, read_committed: bool) -> FoundTimestamp:
    log = replica.log
    end = log.last_stable_offset if read_committed else log.high_watermark
    if timestamp == LATEST:
        return FoundTimestamp(-1, end, replica.partition.assignment.leader_epoch)
    if timestamp in (EARLIEST, EARLIEST_LOCAL, EARLIEST_PENDING_UPLOAD):
        start = log.log_start_offset
        return FoundTimestamp(-1, start, _epoch_of(replica, start))
    if timestamp == LATEST_TIERED:
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
