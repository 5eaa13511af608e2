"""ElectLeaders (key 43): elect the preferred leader, or an unclean one.

KIP-460 election type (v1).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int8, Int16, Int32


class TopicPartitions(Struct):
    topic: str
    partitions: list[Int32]


class ElectLeadersRequest(Request, key=43, versions="0-2", flexible="2+", listeners=Listeners.BOTH):
    election_type: Int8 = field("1+")
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: Int32 = 60000


class PartitionResult(Struct):
    partition_id: Int32
    error_code: Int16
    error_message: str | None


class ReplicaElectionResult(Struct):
    topic: str
    partition_result: list[PartitionResult]


class ElectLeadersResponse(Response, key=43, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16 = field("1+")
    replica_election_results: list[ReplicaElectionResult]
