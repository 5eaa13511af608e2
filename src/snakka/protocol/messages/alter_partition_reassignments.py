"""AlterPartitionReassignments (key 45): start or cancel moving partitions to other replicas.

KIP-455, KIP-860 keep the replication factor (v1).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32


class ReassignablePartition(Struct):
    partition_index: Int32
    replicas: list[Int32] | None = None


class ReassignableTopic(Struct):
    name: str
    partitions: list[ReassignablePartition]


class AlterPartitionReassignmentsRequest(
    Request, key=45, versions="0-1", flexible="0+", listeners=Listeners.BOTH
):
    timeout_ms: Int32 = 60000
    allow_replication_factor_change: bool = field("1+", default=True)
    topics: list[ReassignableTopic]


class ReassignablePartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: str | None


class ReassignableTopicResponse(Struct):
    name: str
    partitions: list[ReassignablePartitionResponse]


class AlterPartitionReassignmentsResponse(Response, key=45, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    allow_replication_factor_change: bool = field("1+", default=True, ignorable=True)
    error_code: Int16
    error_message: str | None
    responses: list[ReassignableTopicResponse]
