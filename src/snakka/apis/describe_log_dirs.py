"""DescribeLogDirs (key 35): a broker's log directory and what lies in it.

KIP-113, KIP-827 volume sizes (v4). There is one directory so far, and nothing moves into it.
"""

from collections import defaultdict

from snakka.apis.context import RequestContext
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
    topics: dict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    for replica in context.replicas:
        if wanted is None or (replica.topic, replica.index) in wanted:
            topics[replica.topic].append(
                DescribeLogDirsPartition(
                    partition_index=replica.index,
                    partition_size=sum(each.size_bytes for each in replica.log.segments),
                    offset_lag=max(0, replica.log.high_watermark - replica.log.log_end_offset),
                    is_future_key=False,
                )
            )
    volume = context.services.find_volume()
    result = DescribeLogDirsResult(
        error_code=ErrorCode.NONE,
        log_dir=volume.path,
        topics=[
            DescribeLogDirsTopic(name=name, partitions=partitions)
            for name, partitions in sorted(topics.items())
        ],
        total_bytes=volume.total_bytes,
        usable_bytes=volume.usable_bytes,
    )
    return DescribeLogDirsResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, results=[result])
