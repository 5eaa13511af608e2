"""DescribeQuorum (key 55): leader, voters and observers of a quorum and how far they are.

KIP-595, KIP-836 timestamps (v1), KIP-853 directories and endpoints (v2).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, Int64, UInt16, Uuid


class RequestPartitionData(Struct):
    partition_index: Int32


class RequestTopicData(Struct):
    topic_name: str
    partitions: list[RequestPartitionData]


class DescribeQuorumRequest(
    Request, key=55, versions="0-2", flexible="0+", listeners=Listeners.BOTH
):
    topics: list[RequestTopicData]


class ReplicaState(Struct):
    replica_id: Int32
    replica_directory_id: Uuid = field("2+")
    log_end_offset: Int64
    last_fetch_timestamp: Int64 = field("1+", default=-1, ignorable=True)
    last_caught_up_timestamp: Int64 = field("1+", default=-1, ignorable=True)


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: str | None = field("2+", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]


class ResponseTopicData(Struct):
    topic_name: str
    partitions: list[ResponsePartitionData]


class Listener(Struct):
    name: str
    host: str
    port: UInt16


class Node(Struct):
    node_id: Int32
    listeners: list[Listener]


class DescribeQuorumResponse(Response, key=55, versions="0-2", flexible="0+"):
    error_code: Int16
    error_message: str | None = field("2+", ignorable=True)
    topics: list[ResponseTopicData]
    nodes: list[Node] = field("2+")
