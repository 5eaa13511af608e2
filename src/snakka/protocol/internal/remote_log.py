"""Records of `__remote_log_metadata`: which segments lie in the remote store (KIP-405)."""

from snakka.protocol.schema import Message, Struct, field
from snakka.protocol.types import Int8, Int32, Int64, Uuid


class RemoteLogRecord(Message):
    """A record of the remote log metadata topic; `key` is its type."""


class RemoteLogSegmentMetadataTopicIdPartitionEntry(Struct):
    name: str
    id: Uuid
    partition: Int32


class RemoteLogSegmentMetadataRemoteLogSegmentIdEntry(Struct):
    topic_id_partition: RemoteLogSegmentMetadataTopicIdPartitionEntry
    id: Uuid


class RemoteLogSegmentMetadataSegmentLeaderEpochEntry(Struct):
    leader_epoch: Int32
    offset: Int64


class RemoteLogSegmentMetadataRecord(RemoteLogRecord, key=0, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentMetadataRemoteLogSegmentIdEntry
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[RemoteLogSegmentMetadataSegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: bytes | None = None
    remote_log_segment_state: Int8
    txn_index_empty: bool = field(tag=0)


class RemoteLogSegmentMetadataUpdateTopicIdPartitionEntry(Struct):
    name: str
    id: Uuid
    partition: Int32


class RemoteLogSegmentMetadataUpdateRemoteLogSegmentIdEntry(Struct):
    topic_id_partition: RemoteLogSegmentMetadataUpdateTopicIdPartitionEntry
    id: Uuid


class RemoteLogSegmentMetadataUpdateRecord(RemoteLogRecord, key=1, versions="0", flexible="0+"):
    remote_log_segment_id: RemoteLogSegmentMetadataUpdateRemoteLogSegmentIdEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    custom_metadata: bytes | None = None
    remote_log_segment_state: Int8


class RemotePartitionDeleteMetadataTopicIdPartitionEntry(Struct):
    name: str
    id: Uuid
    partition: Int32


class RemotePartitionDeleteMetadataRecord(RemoteLogRecord, key=2, versions="0", flexible="0+"):
    topic_id_partition: RemotePartitionDeleteMetadataTopicIdPartitionEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    remote_partition_delete_state: Int8


class RemoteLogSegmentMetadataSnapshotSegmentLeaderEpochEntry(Struct):
    leader_epoch: Int32
    offset: Int64


class RemoteLogSegmentMetadataSnapshotRecord(RemoteLogRecord, key=3, versions="0", flexible="0+"):
    segment_id: Uuid
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[RemoteLogSegmentMetadataSnapshotSegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: bytes | None = None
    remote_log_segment_state: Int8
    txn_index_empty: bool = field(tag=0)
