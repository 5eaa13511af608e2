"""BeginQuorumEpoch (key 53): a new quorum leader makes itself known.

KIP-595, KIP-853 replica directories and endpoints (v1).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, UInt16, Uuid


class RequestPartitionData(Struct):
    partition_index: Int32
    voter_directory_id: Uuid = field("1+", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32


class RequestTopicData(Struct):
    topic_name: str
    partitions: list[RequestPartitionData]


class LeaderEndpoint(Struct):
    name: str
    host: str
    port: UInt16


class BeginQuorumEpochRequest(
    Request, key=53, versions="0-1", flexible="1+", listeners=Listeners.CONTROLLER
):
    cluster_id: str | None = None
    voter_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[RequestTopicData]
    leader_endpoints: list[LeaderEndpoint] = field("1+", ignorable=True)


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


class ResponseTopicData(Struct):
    topic_name: str
    partitions: list[ResponsePartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: UInt16


class BeginQuorumEpochResponse(Response, key=53, versions="0-1", flexible="1+"):
    error_code: Int16
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field("1+", tag=0)
