"""ListOffsets (key 2): offsets by timestamp, or by the special timestamps for the ends of a log.

KIP-734 largest timestamp (v7), KIP-405 earliest local offset (v8), KIP-1005 latest tiered offset
(v9), KIP-1075 timeouts (v10), KIP-1023 the first offset not yet tiered (v11).
"""

from snakka.protocol.schema import Request, Response, Struct, field
from snakka.protocol.types import Int8, Int16, Int32, Int64


class ListOffsetsPartition(Struct):
    partition_index: Int32
    current_leader_epoch: Int32 = field("4+", default=-1, ignorable=True)
    timestamp: Int64


class ListOffsetsTopic(Struct):
    name: str
    partitions: list[ListOffsetsPartition]


class ListOffsetsRequest(Request, key=2, versions="1-11", flexible="6+"):
    replica_id: Int32
    isolation_level: Int8 = field("2+")
    topics: list[ListOffsetsTopic]
    timeout_ms: Int32 = field("10+", ignorable=True)


class ListOffsetsPartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16
    timestamp: Int64 = -1
    offset: Int64 = -1
    leader_epoch: Int32 = field("4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str
    partitions: list[ListOffsetsPartitionResponse]


class ListOffsetsResponse(Response, key=2, versions="1-11", flexible="6+"):
    throttle_time_ms: Int32 = field("2+", ignorable=True)
    topics: list[ListOffsetsTopicResponse]
