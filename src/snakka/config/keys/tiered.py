"""Tiered storage (KIP-405): closed segments in an object store."""

from snakka.config.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    GIB,
    INT,
    LONG,
    LONG_MAX,
    LOW,
    MEDIUM,
    MINUTE_MS,
    STRING,
)
from snakka.config.rules import NON_EMPTY, at_least, between

# fmt: off
STORES = (
    BOOLEAN("remote.log.storage.system.enable", False, MEDIUM,
        doc="Allow topics to keep segments in tiered storage."),
    STRING("remote.log.storage.manager.class.name", None, MEDIUM, NON_EMPTY, unused=True,
        doc="The Java class that reaches the store. Snakka reaches object stores itself."),
    STRING("remote.log.storage.manager.class.path", None, MEDIUM, unused=True,
        doc="Where that class is loaded from."),
    STRING("remote.log.storage.manager.impl.prefix", "rsm.config.", MEDIUM, NON_EMPTY,
        doc="Keys with this prefix are settings of the store."),
    STRING("remote.log.metadata.manager.class.name",
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        MEDIUM, NON_EMPTY, unused=True,
        doc="The Java class that knows which segments are where. Here a topic always knows."),
    STRING("remote.log.metadata.manager.class.path", None, MEDIUM, unused=True,
        doc="Where that class is loaded from."),
    STRING("remote.log.metadata.manager.impl.prefix", "rlmm.config.", MEDIUM, NON_EMPTY,
        doc="Keys with this prefix are settings of the topic that knows."),
    STRING("remote.log.metadata.manager.listener.name", None, MEDIUM, NON_EMPTY,
        doc="The listener that the topic is reached by."),
    INT("remote.log.metadata.custom.metadata.max.bytes", 128, LOW, at_least(0),
        doc="What a store may want remembered of one segment."),
)

LOCAL = (
    LONG("log.local.retention.ms", -2, MEDIUM, at_least(-2), CLUSTER_WIDE,
        doc="How long copied segments stay on local disk; -2 is as long as `log.retention.ms`."),
    LONG("log.local.retention.bytes", -2, MEDIUM, at_least(-2), CLUSTER_WIDE,
        doc="What copied segments may take on local disk; -2 is as much as `log.retention.bytes`."),
    LONG("remote.log.index.file.cache.total.size.bytes", GIB, LOW, at_least(1), CLUSTER_WIDE,
        doc="Local disk for indexes of segments in the store."),
    LONG("remote.log.index.file.cache.ttl.ms", 15 * MINUTE_MS, LOW, at_least(-1), internal=True,
        doc="An index that nobody has read for this long is dropped; -1 is never."),
)

TASKS = (
    LONG("remote.log.manager.task.interval.ms", 30_000, LOW, at_least(1),
        doc="How often it is looked for segments to copy or to expire."),
    LONG("remote.log.manager.task.retry.backoff.ms", 500, LOW, at_least(1), internal=True,
        doc="How long to wait after the first failure of a task."),
    LONG("remote.log.manager.task.retry.backoff.max.ms", 30_000, LOW, at_least(1), internal=True,
        doc="How long to wait at most after failures in a row."),
    DOUBLE("remote.log.manager.task.retry.jitter", 0.2, LOW, between(0, 0.5), internal=True,
        doc="How much of that wait is chance."),
    INT("remote.log.manager.thread.pool.size", 2, MEDIUM, at_least(1), unused=True,
        doc="Threads that make plans for partitions. The event loop makes them here."),
    INT("remote.log.manager.copier.thread.pool.size", 10, MEDIUM, at_least(1), CLUSTER_WIDE,
        doc="Segments that are copied at the same time."),
    INT("remote.log.manager.expiration.thread.pool.size", 10, MEDIUM, at_least(1), CLUSTER_WIDE,
        doc="Partitions whose old segments are deleted from the store at the same time."),
    INT("remote.log.manager.follower.thread.pool.size", 2, MEDIUM, at_least(1), CLUSTER_WIDE,
        unused=True,
        doc="Threads for followers of tiered partitions. The event loop serves them here."),
    INT("remote.log.reader.threads", 10, MEDIUM, at_least(1), CLUSTER_WIDE,
        doc="Reads from the store at the same time."),
    INT("remote.log.reader.max.pending.tasks", 100, MEDIUM, at_least(1),
        doc="Reads from the store that may wait; a fetch that finds more is told to come back."),
    INT("remote.fetch.max.wait.ms", 500, MEDIUM, at_least(1), CLUSTER_WIDE,
        doc="How long a fetch waits for the store before it answers without."),
    LONG("remote.list.offsets.request.timeout.ms", 30_000, MEDIUM, at_least(1), CLUSTER_WIDE,
        doc="How long a search for an offset by timestamp waits for the store."),
    BOOLEAN("follower.fetch.last.tiered.offset.enable", False, MEDIUM, None, CLUSTER_WIDE,
        doc="A new follower begins after what is in the store, instead of copying it."),
)

QUOTAS = (
    LONG("remote.log.manager.copy.max.bytes.per.second", LONG_MAX, MEDIUM, at_least(1),
        CLUSTER_WIDE,
        doc="What the broker may copy to the store a second."),
    INT("remote.log.manager.copy.quota.window.num", 11, MEDIUM, at_least(1),
        doc="Windows over which copying is measured."),
    INT("remote.log.manager.copy.quota.window.size.seconds", 1, MEDIUM, at_least(1),
        doc="The length of one such window."),
    LONG("remote.log.manager.fetch.max.bytes.per.second", LONG_MAX, MEDIUM, at_least(1),
        CLUSTER_WIDE,
        doc="What the broker may read from the store a second."),
    INT("remote.log.manager.fetch.quota.window.num", 11, MEDIUM, at_least(1),
        doc="Windows over which reading is measured."),
    INT("remote.log.manager.fetch.quota.window.size.seconds", 1, MEDIUM, at_least(1),
        doc="The length of one such window."),
)
# fmt: on

KEYS = (*STORES, *LOCAL, *TASKS, *QUOTAS)
