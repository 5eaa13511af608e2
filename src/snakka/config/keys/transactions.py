"""Transactions: their coordinator, and the log of their state."""

from snakka.config.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    DAY_MS,
    HIGH,
    HOUR_MS,
    INT,
    LOW,
    MIB,
    MINUTE_MS,
    SHORT,
)
from snakka.config.rules import at_least

# fmt: off
KEYS = (
    INT("transaction.max.timeout.ms", 15 * MINUTE_MS, HIGH, at_least(1),
        doc="The longest transaction timeout that a producer may ask for."),
    INT("transactional.id.expiration.ms", 7 * DAY_MS, HIGH, at_least(1),
        doc="A transactional id that has been idle for this long is forgotten."),
    INT("transaction.remove.expired.transaction.cleanup.interval.ms", HOUR_MS, LOW, at_least(1),
        doc="How often it is looked for such ids."),
    INT("transaction.abort.timed.out.transaction.cleanup.interval.ms", 10_000, LOW, at_least(1),
        doc="How often it is looked for transactions past their timeout."),
    BOOLEAN("transaction.partition.verification.enable", True, LOW, None, CLUSTER_WIDE,
        doc="Before appending, ask the coordinator whether the transaction is still open."),
    BOOLEAN("transaction.two.phase.commit.enable", False, LOW,
        doc="Allow transactions without timeout, for two-phase commit with another system."),
    INT("add.partitions.to.txn.retry.backoff.ms", 20, HIGH, at_least(1),
        doc="How long a broker waits before it tries again to add a partition."),
    INT("add.partitions.to.txn.retry.backoff.max.ms", 100, HIGH, at_least(0),
        doc="How long it goes on trying before the client is told to."),

    INT("transaction.state.log.num.partitions", 50, HIGH, at_least(1),
        doc="Partitions of `__transaction_state`; not to be changed once it is there."),
    SHORT("transaction.state.log.replication.factor", 3, HIGH, at_least(1),
        doc="Replicas of `__transaction_state`; it is not created while there are fewer brokers."),
    INT("transaction.state.log.min.isr", 2, HIGH, at_least(1),
        doc="`min.insync.replicas` of `__transaction_state`."),
    INT("transaction.state.log.segment.bytes", 100 * MIB, HIGH, at_least(1),
        doc="Segments of `__transaction_state`; small ones are compacted and loaded sooner."),
    INT("transaction.state.log.load.buffer.size", 5 * MIB, HIGH, at_least(1),
        doc="Bytes read at once while a coordinator loads a partition."),
)
# fmt: on
