"""Metrics of the broker, and those that clients push to it (KIP-714)."""

from snakka.config.key import (
    CLUSTER_WIDE,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    MIB,
    MINUTE_MS,
    STRING,
)
from snakka.config.rules import at_least

# fmt: off
KEYS = (
    INT("metrics.num.samples", 2, LOW, at_least(1), unused=True,
        doc="Windows that a rate is computed over. Snakka counts, and the reader computes rates."),
    LONG("metrics.sample.window.ms", 30_000, LOW, at_least(1), unused=True,
        doc="The length of one such window."),
    STRING("metrics.recording.level", "INFO", LOW, unused=True,
        doc="How much is measured. Here everything is, always."),
    LIST("metric.reporters", ("org.apache.kafka.common.metrics.JmxReporter",), LOW, None,
        CLUSTER_WIDE, unused=True,
        doc="Java classes that metrics are reported to. There is no JVM to load them."),
    LIST("kafka.metrics.reporters", (), LOW, unused=True,
        doc="Java classes that older metrics are reported to. There is no JVM to load them."),
    INT("kafka.metrics.polling.interval.secs", 10, LOW, at_least(1), unused=True,
        doc="How often those classes are asked."),
    INT("telemetry.max.bytes", MIB, LOW, at_least(1),
        doc="The largest push of metrics that a client may send."),
)

# A subscription of its own, altered as a CLIENT_METRICS resource.
SUBSCRIPTION = (
    LIST("metrics", (), MEDIUM,
        doc="Prefixes of the names of the metrics to push; `*` is all."),
    INT("interval.ms", 5 * MINUTE_MS, MEDIUM,
        doc="How often matching clients push, between 100 and 3600000."),
    LIST("match", (), MEDIUM,
        doc="Which clients push, as `client_id=REGEX` and the like; empty is every client."),
)
# fmt: on
