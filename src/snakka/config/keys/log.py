"""Logs: where they are, when segments roll, what is kept, what is flushed, how they are compacted.

Most keys are the defaults of a topic's key of nearly the same name (topic.py).
"""

from snakka.config.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    DAY_MS,
    DOUBLE,
    GIB,
    HIGH,
    HOUR_MS,
    INT,
    KIB,
    LIST,
    LONG,
    LONG_MAX,
    LOW,
    MEDIUM,
    MIB,
    MINUTE_MS,
    PER_BROKER,
    STRING,
)
from snakka.config.rules import NON_EMPTY_LIST, Range, at_least, between, list_of, one_of

COMPRESSION_TYPES = one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
GZIP_LEVELS = Range(1, 9, also=-1)
LZ4_LEVELS = between(1, 17)
ZSTD_LEVELS = between(-131072, 22)
CLEANUP_POLICIES = list_of("compact", "delete", may_be_empty=True)
TIMESTAMP_TYPES = one_of("CreateTime", "LogAppendTime")
DOUBLE_MAX = 1.7976931348623157e308

# fmt: off
DIRECTORIES = (
    LIST("log.dir", ("/tmp/kafka-logs",), HIGH, NON_EMPTY_LIST,
        doc="Where the logs are, where `log.dirs` does not say."),
    LIST("log.dirs", None, HIGH, NON_EMPTY_LIST,
        doc="The directories that partitions are spread over."),
    LIST("cordoned.log.dirs", (), MEDIUM, None, PER_BROKER,
        doc="Directories of `log.dirs` that get no new partitions; `*` is all of them."),
    LONG("log.dir.failure.timeout.ms", 30_000, LOW, at_least(1),
        doc="A broker that cannot report a failed directory for this long stops."),
    INT("num.recovery.threads.per.data.dir", 2, HIGH, at_least(1), CLUSTER_WIDE,
        doc="Threads per directory that open logs at start and flush them at the end."),
    LONG("log.initial.task.delay.ms", 30_000, LOW, at_least(0), internal=True,
        doc="How long after the start the chores of the logs begin."),
)

SEGMENTS = (
    INT("log.segment.bytes", GIB, HIGH, at_least(MIB), CLUSTER_WIDE,
        doc="A segment is closed when the next batch would make it larger."),
    LONG("log.roll.ms", None, HIGH, None, CLUSTER_WIDE,
        doc="A segment is closed at this age even when it is not full."),
    INT("log.roll.hours", 168, HIGH, at_least(1),
        doc="The same in hours, where `log.roll.ms` is not given."),
    LONG("log.roll.jitter.ms", None, HIGH, None, CLUSTER_WIDE,
        doc="Each segment closes up to this much earlier, by chance, so that not all do at once."),
    INT("log.roll.jitter.hours", 0, HIGH, at_least(0),
        doc="The same in hours, where `log.roll.jitter.ms` is not given."),
    INT("log.index.size.max.bytes", 10 * MIB, MEDIUM, at_least(4), CLUSTER_WIDE,
        doc="The largest index of a segment; a full one closes the segment."),
    INT("log.index.interval.bytes", 4096, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="Bytes of log between two entries of the offset index."),
    BOOLEAN("log.preallocate", False, MEDIUM, None, CLUSTER_WIDE,
        doc="Give a new segment its full size on disk at once."),
    LONG("log.segment.delete.delay.ms", MINUTE_MS, HIGH, at_least(0), CLUSTER_WIDE,
        doc="How long a removed segment's files stay on disk."),
)

RETENTION = (
    LIST("log.cleanup.policy", ("delete",), MEDIUM, CLEANUP_POLICIES, CLUSTER_WIDE,
        doc="What happens to old records: `delete` them, `compact` them by key, both or neither."),
    LONG("log.retention.ms", None, HIGH, None, CLUSTER_WIDE,
        doc="How long records are kept; -1 is forever."),
    INT("log.retention.minutes", None, HIGH,
        doc="The same in minutes, where `log.retention.ms` is not given."),
    INT("log.retention.hours", 168, HIGH,
        doc="The same in hours, where neither milliseconds nor minutes are given."),
    LONG("log.retention.bytes", -1, HIGH, None, CLUSTER_WIDE,
        doc="What a partition may hold before its oldest segments go; -1 is no limit."),
    LONG("log.retention.check.interval.ms", 5 * MINUTE_MS, MEDIUM, at_least(1),
        doc="How often it is looked for segments to delete."),
)

FLUSHING = (
    LONG("log.flush.interval.messages", LONG_MAX, HIGH, at_least(1), CLUSTER_WIDE,
        doc="Flush to disk after this many records; 1 makes every acknowledged record durable."),
    LONG("log.flush.interval.ms", None, HIGH, None, CLUSTER_WIDE,
        doc="Flush what has waited this long; by default `log.flush.scheduler.interval.ms`."),
    LONG("log.flush.scheduler.interval.ms", LONG_MAX, HIGH,
        doc="How often it is looked for logs to flush."),
    INT("log.flush.offset.checkpoint.interval.ms", MINUTE_MS, HIGH, at_least(0),
        doc="How often it is written down up to where each log is on disk."),
    INT("log.flush.start.offset.checkpoint.interval.ms", MINUTE_MS, HIGH, at_least(0),
        doc="How often it is written down where each log begins."),
)

MESSAGES = (
    INT("message.max.bytes", MIB + 12, HIGH, at_least(0), CLUSTER_WIDE,
        doc="The largest record batch that is taken, after compression."),
    STRING("compression.type", "producer", HIGH, COMPRESSION_TYPES, CLUSTER_WIDE,
        doc="The codec batches are stored with; `producer` keeps what the producer used."),
    INT("compression.gzip.level", -1, MEDIUM, GZIP_LEVELS, CLUSTER_WIDE,
        doc="How hard gzip tries, where the broker compresses; -1 is its own default."),
    INT("compression.lz4.level", 9, MEDIUM, LZ4_LEVELS, CLUSTER_WIDE,
        doc="How hard lz4 tries, where the broker compresses."),
    INT("compression.zstd.level", 3, MEDIUM, ZSTD_LEVELS, CLUSTER_WIDE,
        doc="How hard zstd tries, where the broker compresses."),
    STRING("log.message.timestamp.type", "CreateTime", MEDIUM, TIMESTAMP_TYPES, CLUSTER_WIDE,
        doc="Whose clock stamps records: the producer's, or the broker's as it appends."),
    LONG("log.message.timestamp.before.max.ms", LONG_MAX, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="How far a producer's timestamp may lie in the past."),
    LONG("log.message.timestamp.after.max.ms", HOUR_MS, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="How far a producer's timestamp may lie in the future."),
    INT("producer.id.expiration.ms", DAY_MS, LOW, at_least(1), CLUSTER_WIDE,
        doc="A producer that has not written for this long is forgotten by the partition."),
    INT("producer.id.expiration.check.interval.ms", 10 * MINUTE_MS, LOW, at_least(1), internal=True,
        doc="How often it is looked for such producers."),
)

COMPACTION = (
    BOOLEAN("log.cleaner.enable", True, MEDIUM,
        doc="Run compaction. Without it, compacted topics only grow."),
    INT("log.cleaner.threads", 1, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="Logs that are compacted at the same time."),
    DOUBLE("log.cleaner.io.max.bytes.per.second", DOUBLE_MAX, MEDIUM, None, CLUSTER_WIDE,
        doc="What compaction may read and write a second, in sum."),
    LONG("log.cleaner.dedupe.buffer.size", 128 * MIB, MEDIUM, None, CLUSTER_WIDE,
        doc="Bytes for the map of keys while compacting, over all threads."),
    DOUBLE("log.cleaner.io.buffer.load.factor", 0.9, MEDIUM, None, CLUSTER_WIDE,
        doc="How full the map of keys may get; fuller cleans more at once."),
    INT("log.cleaner.io.buffer.size", 512 * KIB, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="Bytes for reading and writing while compacting, over all threads."),
    LONG("log.cleaner.backoff.ms", 15_000, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="How long to rest when there is nothing to compact."),
    DOUBLE("log.cleaner.min.cleanable.ratio", 0.5, MEDIUM, between(0, 1), CLUSTER_WIDE,
        doc="A log is compacted when this share of it has not been yet."),
    LONG("log.cleaner.delete.retention.ms", DAY_MS, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="How long tombstones and transaction markers stay, so that every reader sees them."),
    LONG("log.cleaner.min.compaction.lag.ms", 0, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="A record younger than this is not compacted away."),
    LONG("log.cleaner.max.compaction.lag.ms", LONG_MAX, MEDIUM, at_least(1), CLUSTER_WIDE,
        doc="A record older than this makes its log due, whatever the ratio says."),
)
# fmt: on

KEYS = (*DIRECTORIES, *SEGMENTS, *RETENTION, *FLUSHING, *MESSAGES, *COMPACTION)
