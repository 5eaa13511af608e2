"""Records of `__consumer_offsets` that hold consumer groups (KIP-848)."""

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Int8, Int32, Int64, Uuid


class ConsumerGroupMetadataKey(CoordinatorKey, key=3, versions="0"):
    group_id: str


class ConsumerGroupMetadataValue(CoordinatorValue, key=3, versions="0", flexible="0+"):
    epoch: Int32
    metadata_hash: Int64 = field(default=0, tag=0)


class ConsumerGroupPartitionMetadataKey(CoordinatorKey, key=4, versions="0"):
    group_id: str


class PartitionMetadata(Struct):
    partition: Int32
    racks: list[str]


class TopicMetadata(Struct):
    topic_id: Uuid
    topic_name: str
    num_partitions: Int32
    partition_metadata: list[PartitionMetadata]


class ConsumerGroupPartitionMetadataValue(CoordinatorValue, key=4, versions="0", flexible="0+"):
    topics: list[TopicMetadata]


class ConsumerGroupMemberMetadataKey(CoordinatorKey, key=5, versions="0"):
    group_id: str
    member_id: str


class ClassicProtocol(Struct):
    name: str
    metadata: bytes


class ClassicMemberMetadata(Struct):
    session_timeout_ms: Int32
    supported_protocols: list[ClassicProtocol]


class ConsumerGroupMemberMetadataValue(CoordinatorValue, key=5, versions="0", flexible="0+"):
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: Int32 = -1
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None = field(default=None, tag=0)


class ConsumerGroupTargetAssignmentMetadataKey(CoordinatorKey, key=6, versions="0"):
    group_id: str


class ConsumerGroupTargetAssignmentMetadataValue(
    CoordinatorValue, key=6, versions="0", flexible="0+"
):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)


class ConsumerGroupTargetAssignmentMemberKey(CoordinatorKey, key=7, versions="0"):
    group_id: str
    member_id: str


class TopicPartition(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupTargetAssignmentMemberValue(
    CoordinatorValue, key=7, versions="0", flexible="0+"
):
    topic_partitions: list[TopicPartition]


class ConsumerGroupCurrentMemberAssignmentKey(CoordinatorKey, key=8, versions="0"):
    group_id: str
    member_id: str


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(tag=0)


class ConsumerGroupCurrentMemberAssignmentValue(
    CoordinatorValue, key=8, versions="0", flexible="0+"
):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]


class ConsumerGroupRegularExpressionKey(CoordinatorKey, key=16, versions="0"):
    group_id: str
    regular_expression: str


class ConsumerGroupRegularExpressionValue(CoordinatorValue, key=16, versions="0", flexible="0+"):
    topics: list[str]
    version: Int64
    timestamp: Int64
