"""OffsetForLeaderEpoch (key 23): where a leader epoch ended, to find where logs diverge.

KIP-279 the epoch before where the asked one is unknown, KIP-320 fencing (v2).
"""

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


@api(ApiKey.OFFSET_FOR_LEADER_EPOCH)
async def offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        throttle_time_ms=0,
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_partition(topic.topic, each, context) for each in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _partition(
    topic: str, asked: OffsetForLeaderPartition, context: RequestContext
) -> EpochEndOffset:
    try:
        replica = context.replicas.get(topic, asked.partition)
        replica.partition.check_leader(asked.current_leader_epoch)
    except TOLD_ERRORS as error:
        return EpochEndOffset(partition=asked.partition, error_code=error_code(error))
    log = replica.log
    found = log.epochs.find_end_offset(asked.leader_epoch, log.log_end_offset)
    if found is None:
        return EpochEndOffset(partition=asked.partition, error_code=ErrorCode.NONE)
    return EpochEndOffset(
        partition=asked.partition,
        error_code=ErrorCode.NONE,
        leader_epoch=found.epoch,
        end_offset=found.end_offset,
    )
