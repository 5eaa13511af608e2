"""Consumer groups of both protocols, streams groups, and the offsets that groups commit."""

from snakka.config.key import (
    CLUSTER_WIDE,
    HIGH,
    INT,
    INT_MAX,
    KIB,
    LIST,
    LONG,
    MEDIUM,
    MIB,
    MINUTE_MS,
    SHORT,
    STRING,
)
from snakka.config.rules import at_least, list_of, one_of

# fmt: off
COORDINATOR = (
    LIST("group.coordinator.rebalance.protocols", ("classic", "consumer", "streams"), MEDIUM,
        list_of("consumer", "classic", "share", "streams"),
        doc="The kinds of groups that may form; share groups also need their feature."),
    INT("group.coordinator.threads", 4, HIGH, at_least(1), unused=True,
        doc="Threads of the coordinator. The event loop runs it here."),
    INT("group.coordinator.background.threads", 2, HIGH, at_least(1), unused=True,
        doc="Threads for assignments and regular expressions. The event loop runs them here."),
    INT("group.coordinator.append.linger.ms", -1, MEDIUM, at_least(-1),
        doc="Gather records for this long before writing; -1 writes when nothing else is due."),
    INT("group.coordinator.cached.buffer.max.bytes", MIB + 12, MEDIUM, at_least(512 * KIB),
        CLUSTER_WIDE, unused=True,
        doc="The largest write buffer that is kept for reuse. Buffers are not pooled here."),
)

OFFSETS = (
    INT("offset.metadata.max.bytes", 4096, HIGH,
        doc="The longest text that may be committed with an offset."),
    INT("offsets.commit.timeout.ms", 5000, HIGH, at_least(1),
        doc="How long a commit waits for the replicas of its partition."),
    INT("offsets.retention.minutes", 10080, HIGH, at_least(1),
        doc="How long offsets are kept after their group is empty, or their last commit."),
    LONG("offsets.retention.check.interval.ms", 10 * MINUTE_MS, HIGH, at_least(1),
        doc="How often it is looked for expired offsets."),
    INT("offsets.load.buffer.size", 5 * MIB, HIGH, at_least(1),
        doc="Bytes read at once while a coordinator loads a partition."),
    INT("offsets.topic.num.partitions", 50, HIGH, at_least(1),
        doc="Partitions of `__consumer_offsets`; not to be changed once it is there."),
    SHORT("offsets.topic.replication.factor", 3, HIGH, at_least(1),
        doc="Replicas of `__consumer_offsets`; it is not created while there are fewer brokers."),
    INT("offsets.topic.segment.bytes", 100 * MIB, HIGH, at_least(1),
        doc="Segments of `__consumer_offsets`; small ones are compacted and loaded sooner."),
    INT("offsets.topic.compression.codec", 0, HIGH,
        doc="The codec of `__consumer_offsets` by its number: 0 none, 1 gzip, 2 snappy, 3 lz4, "
            "4 zstd."),
)

CLASSIC = (
    INT("group.max.size", INT_MAX, MEDIUM, at_least(1),
        doc="Members that a group of the classic protocol may have."),
    INT("group.initial.rebalance.delay.ms", 3000, MEDIUM,
        doc="How long the first rebalance of an empty group waits for more members."),
    INT("group.min.session.timeout.ms", 6000, MEDIUM,
        doc="The shortest session a member may ask for."),
    INT("group.max.session.timeout.ms", 30 * MINUTE_MS, MEDIUM,
        doc="The longest session a member may ask for."),
)

CONSUMER = (
    INT("group.consumer.session.timeout.ms", 45_000, MEDIUM, at_least(1),
        doc="A member that sends no heartbeat for this long is put out of its group."),
    INT("group.consumer.min.session.timeout.ms", 45_000, MEDIUM, at_least(1),
        doc="The shortest session that a group may be given."),
    INT("group.consumer.max.session.timeout.ms", 60_000, MEDIUM, at_least(1),
        doc="The longest session that a group may be given."),
    INT("group.consumer.heartbeat.interval.ms", 5000, MEDIUM, at_least(1),
        doc="How often members are told to send heartbeats."),
    INT("group.consumer.min.heartbeat.interval.ms", 5000, MEDIUM, at_least(1),
        doc="The shortest interval that a group may be given."),
    INT("group.consumer.max.heartbeat.interval.ms", 15_000, MEDIUM, at_least(1),
        doc="The longest interval that a group may be given."),
    INT("group.consumer.assignment.interval.ms", 1000, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="The least time between two new assignments of a group."),
    INT("group.consumer.min.assignment.interval.ms", 0, MEDIUM, at_least(0),
        doc="The shortest such time that a group may be given."),
    INT("group.consumer.max.assignment.interval.ms", 15_000, MEDIUM, at_least(0),
        doc="The longest such time that a group may be given."),
    INT("group.consumer.max.size", INT_MAX, MEDIUM, at_least(1),
        doc="Members that a group of the consumer protocol may have."),
    LIST("group.consumer.assignors", ("uniform", "range"), MEDIUM, list_of("uniform", "range"),
        doc="The assignors that members may choose; the first one is the default."),
    STRING("group.consumer.migration.policy", "bidirectional", MEDIUM,
        one_of("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL", ignores_case=True),
        doc="Whether a live group may move from the classic to the consumer protocol, or back."),
    INT("group.consumer.regex.refresh.interval.ms", 10 * MINUTE_MS, MEDIUM, at_least(10_000),
        internal=True,
        doc="How often the topics that match a subscribed expression are looked up anew."),
)

STREAMS = (
    INT("group.streams.session.timeout.ms", 45_000, MEDIUM, at_least(1),
        doc="A member that sends no heartbeat for this long is put out of its group."),
    INT("group.streams.min.session.timeout.ms", 45_000, MEDIUM, at_least(1),
        doc="The shortest session that a group may be given."),
    INT("group.streams.max.session.timeout.ms", 60_000, MEDIUM, at_least(1),
        doc="The longest session that a group may be given."),
    INT("group.streams.heartbeat.interval.ms", 5000, MEDIUM, at_least(1),
        doc="How often members are told to send heartbeats."),
    INT("group.streams.min.heartbeat.interval.ms", 5000, MEDIUM, at_least(1),
        doc="The shortest interval that a group may be given."),
    INT("group.streams.max.heartbeat.interval.ms", 15_000, MEDIUM, at_least(1),
        doc="The longest interval that a group may be given."),
    INT("group.streams.assignment.interval.ms", 1000, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="The least time between two new assignments of a group."),
    INT("group.streams.min.assignment.interval.ms", 0, MEDIUM, at_least(0),
        doc="The shortest such time that a group may be given."),
    INT("group.streams.max.assignment.interval.ms", 15_000, MEDIUM, at_least(0),
        doc="The longest such time that a group may be given."),
    INT("group.streams.initial.rebalance.delay.ms", 3000, MEDIUM, at_least(0),
        doc="How long the first assignment of an empty group waits for more members."),
    INT("group.streams.max.size", INT_MAX, MEDIUM, at_least(1),
        doc="Members that a streams group may have."),
    INT("group.streams.num.standby.replicas", 0, MEDIUM, at_least(0),
        doc="Standby copies of each task that keeps state."),
    INT("group.streams.max.standby.replicas", 2, MEDIUM, at_least(0),
        doc="The most standby copies that a group may be given."),
)
# fmt: on

KEYS = (*COORDINATOR, *OFFSETS, *CLASSIC, *CONSUMER, *STREAMS)
