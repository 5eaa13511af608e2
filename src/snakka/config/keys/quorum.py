"""The controllers: who they are, how they elect, the metadata log and its snapshots."""

from snakka.config.key import (
    BOOLEAN,
    DAY_MS,
    GIB,
    HIGH,
    HOUR_MS,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    MIB,
    MINUTE_MS,
    REQUIRED,
    STRING,
)
from snakka.config.rules import HOST_AND_PORTS, NON_EMPTY_LIST, VOTERS, at_least

# fmt: off
VOTING = (
    LIST("controller.listener.names", REQUIRED, HIGH, NON_EMPTY_LIST,
        doc="The listeners that controllers are reached by; the first one is used."),
    LIST("controller.quorum.bootstrap.servers", (), HIGH, HOST_AND_PORTS,
        doc="Some controllers' addresses, as `host:port`; the others are learnt from them."),
    LIST("controller.quorum.voters", (), HIGH, VOTERS,
        doc="All voters of a quorum that never changes, as `id@host:port`."),
    BOOLEAN("controller.quorum.auto.join.enable", False, LOW,
        doc="A controller that finds itself no voter asks to become one."),
    INT("controller.quorum.election.timeout.ms", 1000, HIGH, at_least(0),
        doc="A candidate without a majority tries again after this time, or up to twice of it."),
    INT("controller.quorum.election.backoff.max.ms", 1000, HIGH, at_least(0),
        doc="How long losers of an election wait at most, so that one wins the next."),
    INT("controller.quorum.fetch.timeout.ms", 2000, HIGH, at_least(0),
        doc="A voter that has not reached the leader for this long stands for election; a leader "
            "that no majority has fetched from resigns."),
    INT("controller.quorum.request.timeout.ms", 2000, MEDIUM, at_least(0),
        doc="How long a node of the quorum waits for an answer of another."),
    INT("controller.quorum.retry.backoff.ms", 20, LOW, at_least(0),
        doc="How long it waits after a failure before it asks again."),
    INT("controller.quorum.append.linger.ms", 25, MEDIUM, at_least(0), unused=True,
        doc="How long the leader gathers records. Here one flush takes what came during the last."),
    INT("controller.quorum.fetch.max.bytes", MIB, LOW, at_least(1),
        doc="What one fetch of the metadata log asks for."),
    INT("controller.quorum.fetch.snapshot.max.bytes", MIB, LOW, at_least(1),
        doc="What one fetch of a snapshot asks for."),
)

METADATA_LOG = (
    STRING("metadata.log.dir", None, HIGH,
        doc="Where the metadata log is; by default in the first of `log.dirs`."),
    INT("metadata.log.segment.bytes", GIB, HIGH, at_least(8 * MIB),
        doc="The size at which a segment of the metadata log is closed."),
    LONG("metadata.log.segment.ms", 7 * DAY_MS, HIGH,
        doc="The age at which a segment of the metadata log is closed."),
    LONG("metadata.log.max.record.bytes.between.snapshots", 20 * MIB, HIGH, at_least(1),
        doc="A snapshot is written after this many bytes of records."),
    LONG("metadata.log.max.snapshot.interval.ms", HOUR_MS, HIGH, at_least(0),
        doc="A snapshot is written after this time where there are new records; 0 is never."),
    LONG("metadata.max.retention.bytes", 100 * MIB, HIGH,
        doc="What log and snapshots together may hold before the oldest go."),
    LONG("metadata.max.retention.ms", 7 * DAY_MS, HIGH,
        doc="How long snapshots, and the log before them, are kept."),
    INT("metadata.max.idle.interval.ms", 500, LOW, at_least(0), unused=True,
        doc="How often an idle active controller writes an empty record. Here it writes none."),
    INT("internal.metadata.log.segment.bytes", None, LOW, internal=True,
        doc="`metadata.log.segment.bytes` without its lower bound, for tests."),
    INT("internal.metadata.max.batch.size.in.bytes", 8 * MIB, LOW, internal=True,
        doc="The largest batch of the metadata log."),
    LONG("internal.metadata.delete.delay.millis", MINUTE_MS, LOW, internal=True,
        doc="How long a removed file of the metadata log stays on disk."),
    LONG("controller.performance.sample.period.ms", MINUTE_MS, MEDIUM, at_least(100), internal=True,
        doc="How often the controller reports how long its events took."),
    LONG("controller.performance.always.log.threshold.ms", 2000, MEDIUM, at_least(0), internal=True,
        doc="An event of the controller that takes longer is always logged."),
)
# fmt: on

KEYS = (*VOTING, *METADATA_LOG)
