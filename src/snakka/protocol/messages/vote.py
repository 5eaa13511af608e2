"""Vote (key 52): ask for a vote in a quorum's election.

KIP-595, KIP-853 replica directories (v1), KIP-996 pre-vote (v2).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, Int64, UInt16, Uuid


class RequestPartitionData(Struct):
    partition_index: Int32
    replica_epoch: Int32
    replica_id: Int32
    replica_directory_id: Uuid = field("1+", ignorable=True)
    voter_directory_id: Uuid = field("1+", ignorable=True)
    last_offset_epoch: Int32
    last_offset: Int64
    pre_vote: bool = field("2+")


class RequestTopicData(Struct):
    topic_name: str
    partitions: list[RequestPartitionData]


class VoteRequest(Request, key=52, versions="0-2", flexible="0+", listeners=Listeners.CONTROLLER):
    cluster_id: str | None = None
    voter_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[RequestTopicData]


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    vote_granted: bool


class ResponseTopicData(Struct):
    topic_name: str
    partitions: list[ResponsePartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: UInt16


class VoteResponse(Response, key=52, versions="0-2", flexible="0+"):
    error_code: Int16
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field("1+", tag=0)
