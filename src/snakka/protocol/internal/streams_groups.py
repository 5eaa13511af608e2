"""Records of `__consumer_offsets` that hold streams groups (KIP-1071)."""

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Int8, Int16, Int32, Int64, UInt16


class StreamsGroupMetadataKey(CoordinatorKey, key=17, versions="0"):
    group_id: str


class LastAssignmentConfig(Struct):
    key: str
    value: str


class StreamsGroupMetadataValue(CoordinatorValue, key=17, versions="0", flexible="0+"):
    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Int32 = field(default=-1, tag=0)
    last_assignment_configs: list[LastAssignmentConfig] | None = field(tag=1)


class StreamsGroupMemberMetadataKey(CoordinatorKey, key=19, versions="0"):
    group_id: str
    member_id: str


class Endpoint(Struct):
    host: str
    port: UInt16


class KeyValue(Struct):
    key: str
    value: str


class StreamsGroupMemberMetadataValue(CoordinatorValue, key=19, versions="0", flexible="0+"):
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: Int32 = -1
    topology_epoch: Int32
    process_id: str
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue]


class StreamsGroupTargetAssignmentMetadataKey(CoordinatorKey, key=20, versions="0"):
    group_id: str


class StreamsGroupTargetAssignmentMetadataValue(
    CoordinatorValue, key=20, versions="0", flexible="0+"
):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)


class StreamsGroupTargetAssignmentMemberKey(CoordinatorKey, key=21, versions="0"):
    group_id: str
    member_id: str


class StreamsGroupTargetAssignmentMemberTaskIds(Struct):
    subtopology_id: str
    partitions: list[Int32]


class StreamsGroupTargetAssignmentMemberValue(
    CoordinatorValue, key=21, versions="0", flexible="0+"
):
    active_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]
    standby_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]


class StreamsGroupCurrentMemberAssignmentKey(CoordinatorKey, key=22, versions="0"):
    group_id: str
    member_id: str


class StreamsGroupCurrentMemberAssignmentTaskIds(Struct):
    subtopology_id: str
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(tag=0)


class StreamsGroupCurrentMemberAssignmentValue(
    CoordinatorValue, key=22, versions="0", flexible="0+"
):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]


class StreamsGroupTopologyKey(CoordinatorKey, key=23, versions="0"):
    group_id: str


class TopicConfig(Struct):
    key: str
    value: str


class TopicInfo(Struct):
    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: list[TopicConfig]


class CopartitionGroup(Struct):
    source_topics: list[Int16]
    source_topic_regex: list[Int16]
    repartition_source_topics: list[Int16]


class Subtopology(Struct):
    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]


class StreamsGroupTopologyValue(CoordinatorValue, key=23, versions="0", flexible="0+"):
    epoch: Int32
    subtopologies: list[Subtopology]
