"""AlterReplicaLogDirs (key 34): move replicas to other log directories of this broker.

KIP-113, KIP-1066 cordoned directories. The answer comes when the moves have begun;
DescribeLogDirs tells how far they are. A replica that is still to come is made in its directory.
"""

from collections import defaultdict

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


@api(ApiKey.ALTER_REPLICA_LOG_DIRS)
async def alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, context: RequestContext
) -> AlterReplicaLogDirsResponse:
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = defaultdict(list)
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                code = await _move(topic.name, index, directory.path, context)
                results[topic.name].append(
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
                )
    return AlterReplicaLogDirsResponse(
        throttle_time_ms=0,
        results=[
            AlterReplicaLogDirTopicResult(topic_name=name, partitions=partitions)
            for name, partitions in results.items()
        ],
    )


async def _move(topic: str, index: int, path: str, context: RequestContext) -> ErrorCode:
    try:
        await context.services.log_dirs.move(topic, index, path)
    except TOLD_ERRORS as error:
        return error_code(error)
    return ErrorCode.NONE
