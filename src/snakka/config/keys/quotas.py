"""Quotas: how they are measured, and the limits of brokers, users, clients and addresses."""

from snakka.config.key import (
    CLASS,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    INT_MAX,
    LONG,
    LONG_MAX,
    LOW,
    MEDIUM,
)
from snakka.config.rules import at_least

# fmt: off
KEYS = (
    INT("quota.window.num", 11, LOW, at_least(1),
        doc="Windows over which what clients use is measured."),
    INT("quota.window.size.seconds", 1, LOW, at_least(1),
        doc="The length of one such window."),
    INT("controller.quota.window.num", 11, LOW, at_least(1),
        doc="Windows over which changes of topics are measured."),
    INT("controller.quota.window.size.seconds", 1, LOW, at_least(1),
        doc="The length of one such window."),
    INT("replication.quota.window.num", 11, LOW, at_least(1),
        doc="Windows over which throttled replication is measured."),
    INT("replication.quota.window.size.seconds", 1, LOW, at_least(1),
        doc="The length of one such window."),
    INT("alter.log.dirs.replication.quota.window.num", 11, LOW, at_least(1),
        doc="Windows over which moves between directories are measured."),
    INT("alter.log.dirs.replication.quota.window.size.seconds", 1, LOW, at_least(1),
        doc="The length of one such window."),
    CLASS("client.quota.callback.class", None, LOW, unused=True,
        doc="A Java class that decides on quotas. There is no JVM to load it."),
)

# Set with AlterConfigs alone: they are no keys of a file.
BROKER_QUOTAS = (
    LONG("leader.replication.throttled.rate", LONG_MAX, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="Bytes a second that followers may read of the throttled replicas led here."),
    LONG("follower.replication.throttled.rate", LONG_MAX, MEDIUM, at_least(0), CLUSTER_WIDE,
        doc="Bytes a second that the throttled replicas here may copy."),
    LONG("replica.alter.log.dirs.io.max.bytes.per.second", LONG_MAX, MEDIUM, at_least(0),
        CLUSTER_WIDE,
        doc="Bytes a second that moves between directories may copy."),
)

# Set with AlterClientQuotas.
CLIENT_QUOTAS = (
    LONG("producer_byte_rate", LONG_MAX, MEDIUM,
        doc="Bytes a second that may be produced to one broker."),
    LONG("consumer_byte_rate", LONG_MAX, MEDIUM,
        doc="Bytes a second that may be fetched from one broker."),
    DOUBLE("request_percentage", float(INT_MAX), MEDIUM,
        doc="Share of one broker's time, in percent of one thread."),
    DOUBLE("controller_mutation_rate", float(INT_MAX), MEDIUM,
        doc="Partitions a second that may be created or deleted."),
)
ADDRESS_QUOTAS = (
    INT("connection_creation_rate", INT_MAX, MEDIUM, at_least(0),
        doc="New connections a second that one broker takes from the address."),
)
# fmt: on
