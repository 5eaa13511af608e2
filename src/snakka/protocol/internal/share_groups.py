"""Records of `__consumer_offsets` that hold share groups (KIP-932)."""

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Int8, Int32, Int64, Uuid


class ShareGroupMemberMetadataKey(CoordinatorKey, key=10, versions="0"):
    group_id: str
    member_id: str


class ShareGroupMemberMetadataValue(CoordinatorValue, key=10, versions="0", flexible="0+"):
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]


class ShareGroupMetadataKey(CoordinatorKey, key=11, versions="0"):
    group_id: str


class ShareGroupMetadataValue(CoordinatorValue, key=11, versions="0", flexible="0+"):
    epoch: Int32
    metadata_hash: Int64


class ShareGroupTargetAssignmentMetadataKey(CoordinatorKey, key=12, versions="0"):
    group_id: str


class ShareGroupTargetAssignmentMetadataValue(
    CoordinatorValue, key=12, versions="0", flexible="0+"
):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)


class ShareGroupTargetAssignmentMemberKey(CoordinatorKey, key=13, versions="0"):
    group_id: str
    member_id: str


class TopicPartition(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ShareGroupTargetAssignmentMemberValue(CoordinatorValue, key=13, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition]


class ShareGroupCurrentMemberAssignmentKey(CoordinatorKey, key=14, versions="0"):
    group_id: str
    member_id: str


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ShareGroupCurrentMemberAssignmentValue(CoordinatorValue, key=14, versions="0", flexible="0+"):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]


class ShareGroupStatePartitionMetadataKey(CoordinatorKey, key=15, versions="0"):
    group_id: str


class TopicPartitionsInfo(Struct):
    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


class TopicInfo(Struct):
    topic_id: Uuid
    topic_name: str


class ShareGroupStatePartitionMetadataValue(CoordinatorValue, key=15, versions="0", flexible="0+"):
    initializing_topics: list[TopicPartitionsInfo]
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[TopicInfo]
