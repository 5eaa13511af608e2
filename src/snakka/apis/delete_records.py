"""DeleteRecords (key 21): advance a partition's log start. KIP-107.

The new start is checkpointed before it is answered, so that no restart brings the records back.
"""

from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

_EVERYTHING: Final = -1
_NO_OFFSET: Final = -1


@api(ApiKey.DELETE_RECORDS)
async def delete_records(
    request: DeleteRecordsRequest, context: RequestContext
) -> DeleteRecordsResponse:
    topics = [
        DeleteRecordsTopicResult(
            name=topic.name,
            partitions=[_delete(topic.name, each, context) for each in topic.partitions],
        )
        for topic in request.topics
    ]
    await context.services.checkpoint()
    return DeleteRecordsResponse(throttle_time_ms=0, topics=topics)


def _delete(
    topic: str, asked: DeleteRecordsPartition, context: RequestContext
) -> DeleteRecordsPartitionResult:
    try:
        replica = context.replicas.get(topic, asked.partition_index)
        replica.partition.check_leader()
        log = replica.log
        replica.delete_records(log.high_watermark if asked.offset == _EVERYTHING else asked.offset)
    except TOLD_ERRORS as error:
        return DeleteRecordsPartitionResult(
            partition_index=asked.partition_index,
            low_watermark=_NO_OFFSET,
            error_code=error_code(error),
        )
    return DeleteRecordsPartitionResult(
        partition_index=asked.partition_index,
        low_watermark=log.log_start_offset,
        error_code=ErrorCode.NONE,
    )
