"""DescribeLogDirs (key 35): a broker's log directories and what lies in them.

KIP-113, KIP-827 volume sizes (v4), KIP-1066 cordoned directories (v5).
"""

from snakka.protocol.schema import Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, Int64


class DescribableLogDirTopic(Struct):
    topic: str
    partitions: list[Int32]


class DescribeLogDirsRequest(Request, key=35, versions="1-5", flexible="2+"):
    topics: list[DescribableLogDirTopic] | None


class DescribeLogDirsPartition(Struct):
    partition_index: Int32
    partition_size: Int64
    offset_lag: Int64
    is_future_key: bool


class DescribeLogDirsTopic(Struct):
    name: str
    partitions: list[DescribeLogDirsPartition]


class DescribeLogDirsResult(Struct):
    error_code: Int16
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: Int64 = field("4+", default=-1, ignorable=True)
    usable_bytes: Int64 = field("4+", default=-1, ignorable=True)
    is_cordoned: bool = field("5+", default=False, ignorable=True)


class DescribeLogDirsResponse(Response, key=35, versions="1-5", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16 = field("3+", ignorable=True)
    results: list[DescribeLogDirsResult]
