"""DescribeLogDirs (key 35): a broker's log directories and what lies in them.

KIP-113, KIP-827 volume sizes (v4), KIP-1066 cordoned directories (v5). A replica that moves shows
in both directories. Of one that has failed nothing but that is told.
"""

from collections import defaultdict

from snakka.apis.context import LogDir, RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


@api(ApiKey.DESCRIBE_LOG_DIRS)
async def describe_log_dirs(
    request: DescribeLogDirsRequest, context: RequestContext
) -> DescribeLogDirsResponse:
    wanted = None
    if request.topics is not None:
        wanted = {(each.topic, index) for each in request.topics for index in each.partitions}
    directories = await context.services.log_dirs.describe()
    return DescribeLogDirsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        results=[_result(each, wanted) for each in directories],
    )


def _result(directory: LogDir, wanted: set[tuple[str, int]] | None) -> DescribeLogDirsResult:
    topics: dict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    for replica in directory.replicas:
        if wanted is None or (replica.topic, replica.partition) in wanted:
            topics[replica.topic].append(
                DescribeLogDirsPartition(
                    partition_index=replica.partition,
                    partition_size=replica.size_bytes,
                    offset_lag=replica.offset_lag,
                    is_future_key=replica.is_future,
                )
            )
    return DescribeLogDirsResult(
        error_code=ErrorCode.NONE if directory.is_online else ErrorCode.KAFKA_STORAGE_ERROR,
        log_dir=directory.path,
        topics=[
            DescribeLogDirsTopic(name=name, partitions=partitions)
            for name, partitions in sorted(topics.items())
        ],
        total_bytes=directory.total_bytes,
        usable_bytes=directory.usable_bytes,
        is_cordoned=directory.is_cordoned,
    )
