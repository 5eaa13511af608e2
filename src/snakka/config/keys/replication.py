"""Copying between brokers: followers, in-sync replicas, leaders and their election."""

from snakka.config.key import (
    BOOLEAN,
    CLUSTER_WIDE,
    HIGH,
    INT,
    KIB,
    LONG,
    MEDIUM,
    MIB,
    MINUTE_MS,
    STRING,
)
from snakka.config.rules import at_least, one_of

# fmt: off
KEYS = (
    INT("min.insync.replicas", 1, HIGH, at_least(1), CLUSTER_WIDE,
        doc="Replicas that have to hold a record before acks=all is answered."),
    LONG("replica.lag.time.max.ms", 30_000, HIGH,
        doc="A follower that has not caught up for this long is no longer in sync."),
    INT("replica.fetch.max.bytes", MIB, MEDIUM, at_least(0),
        doc="What a follower asks for of one partition; a larger first batch still comes whole."),
    INT("replica.fetch.response.max.bytes", 10 * MIB, MEDIUM, at_least(0),
        doc="What a follower asks for in one fetch, over all partitions."),
    INT("replica.fetch.min.bytes", 1, HIGH,
        doc="A leader holds a follower's fetch until it has this much to answer."),
    INT("replica.fetch.wait.max.ms", 500, HIGH,
        doc="How long it holds it at most; less than `replica.lag.time.max.ms`."),
    INT("replica.fetch.backoff.ms", 1000, MEDIUM, at_least(0),
        doc="How long a follower waits after a failed fetch of a partition."),
    INT("num.replica.fetchers", 1, HIGH, at_least(1), CLUSTER_WIDE,
        doc="Connections to each leader that a follower fetches over."),
    INT("num.replica.alter.log.dirs.threads", None, HIGH, unused=True,
        doc="Threads that move partitions between directories. Tasks of the loop do it here."),
    INT("replica.socket.timeout.ms", 30_000, HIGH,
        doc="How long a follower waits for an answer; at least `replica.fetch.wait.max.ms`."),
    INT("replica.socket.receive.buffer.bytes", 64 * KIB, HIGH,
        doc="The kernel's receive buffer of a follower's connection; -1 leaves it to the kernel."),
    LONG("replica.high.watermark.checkpoint.interval.ms", 5000, HIGH,
        doc="How often high watermarks are written down."),
    STRING("replica.selector.class", None, MEDIUM,
        doc="Which replica a consumer reads from. Kafka's rack-aware selector is known by its "
            "Java name."),

    BOOLEAN("unclean.leader.election.enable", False, HIGH, None, CLUSTER_WIDE,
        doc="Let a replica lead that may lack acknowledged records, when no other is left."),
    LONG("unclean.leader.election.interval.ms", 5 * MINUTE_MS, MEDIUM, at_least(1), internal=True,
        doc="How often it is looked for partitions that such an election would help."),
    BOOLEAN("auto.leader.rebalance.enable", True, HIGH,
        doc="Give leaderships back to preferred replicas from time to time."),
    LONG("leader.imbalance.check.interval.seconds", 300, HIGH, at_least(1),
        doc="How often that is looked at."),

    STRING("inter.broker.listener.name", None, MEDIUM,
        doc="The listener that brokers reach each other by."),
    STRING("security.inter.broker.protocol", "PLAINTEXT", MEDIUM,
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        doc="The listener between brokers by its protocol; not with `inter.broker.listener.name`."),
    INT("controller.socket.timeout.ms", 30_000, MEDIUM,
        doc="How long a broker waits for a controller's answer."),
)
# fmt: on
