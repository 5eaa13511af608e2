"""Records of `__remote_log_metadata`: which segments lie in the remote store (KIP-405)."""

from snakka.protocol.internal.kinds import RemoteLogRecord
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Int8, Int32, Int64, Uuid


class TopicIdPartitionEntry(Struct):
    name: str
    id: Uuid
    partition: Int32


class RemoteLogSegmentIdEntry(Struct):
    topic_id_partition: TopicIdPartitionEntry
    id: Uuid


class SegmentLeaderEpochEntry(Struct):
    leader_epoch: Int32
    offset: Int64


class RemoteLogSegmentMetadataRecord(RemoteLogRecord, key=0, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentIdEntry
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[SegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: bytes | None = None
    remote_log_segment_state: Int8
    txn_index_empty: bool = field(tag=0)


class RemoteLogSegmentMetadataUpdateRecord(RemoteLogRecord, key=1, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentIdEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    custom_metadata: bytes | None = None
    remote_log_segment_state: Int8


class RemotePartitionDeleteMetadataRecord(RemoteLogRecord, key=2, versions="0", flexible="0+"):
    topic_id_partition: TopicIdPartitionEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    remote_partition_delete_state: Int8


class RemoteLogSegmentMetadataSnapshotRecord(RemoteLogRecord, key=3, versions="0", flexible="0+"):
    segment_id: Uuid
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[SegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: bytes | None = None
    remote_log_segment_state: Int8
    txn_index_empty: bool = field(tag=0)
