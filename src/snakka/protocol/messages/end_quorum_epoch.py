"""EndQuorumEpoch (key 54): a quorum leader steps down.

KIP-595, KIP-853 replica directories and endpoints (v1).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, UInt16, Uuid


class ReplicaInfo(Struct):
    candidate_id: Int32
    candidate_directory_id: Uuid


class RequestPartitionData(Struct):
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32
    preferred_successors: list[Int32] = field("0", ignorable=True)
    preferred_candidates: list[ReplicaInfo] = field("1+", ignorable=True)


class RequestTopicData(Struct):
    topic_name: str
    partitions: list[RequestPartitionData]


class LeaderEndpoint(Struct):
    name: str
    host: str
    port: UInt16


class EndQuorumEpochRequest(
    Request, key=54, versions="0-1", flexible="1+", listeners=Listeners.CONTROLLER
):
    cluster_id: str | None = None
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


class EndQuorumEpochResponse(Response, key=54, versions="0-1", flexible="1+"):
    error_code: Int16
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field("1+", tag=0)
