"""FetchSnapshot (key 59): read a snapshot of a quorum's log, in chunks.

KIP-630, KIP-853 replica directories (v1).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, Int64, ServedRecords, UInt16, Uuid


class SnapshotId(Struct):
    end_offset: Int64
    epoch: Int32


class RequestPartitionSnapshot(Struct):
    partition: Int32
    current_leader_epoch: Int32
    snapshot_id: SnapshotId
    position: Int64
    replica_directory_id: Uuid = field("1+", tag=0, ignorable=True)


class RequestTopicSnapshot(Struct):
    name: str
    partitions: list[RequestPartitionSnapshot]


class FetchSnapshotRequest(
    Request, key=59, versions="0-1", flexible="0+", listeners=Listeners.CONTROLLER
):
    cluster_id: str | None = field(default=None, tag=0)
    replica_id: Int32 = -1
    max_bytes: Int32 = 2147483647
    topics: list[RequestTopicSnapshot]


class LeaderIdAndEpoch(Struct):
    leader_id: Int32
    leader_epoch: Int32


class ResponsePartitionSnapshot(Struct):
    index: Int32
    error_code: Int16
    snapshot_id: SnapshotId
    current_leader: LeaderIdAndEpoch = field(tag=0)
    size: Int64
    position: Int64
    unaligned_records: ServedRecords


class ResponseTopicSnapshot(Struct):
    name: str
    partitions: list[ResponsePartitionSnapshot]


class NodeEndpoint(Struct):
    node_id: Int32
    host: str
    port: UInt16


class FetchSnapshotResponse(Response, key=59, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[ResponseTopicSnapshot]
    node_endpoints: list[NodeEndpoint] = field("1+", tag=0)
