"""What a user may ask of the sink: option names to one checked value. Pure.

`topic` is that of Spark's own Kafka sink. `txnAppId` and `txnVersion` are Delta's names for the
same thing: they make a batch write repeatable, as query and batch id make a streaming one. Instead
of a version an application may have a state: a write leads from `txnPreviousState` to `txnState`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from snakka.client.settings import ClientSettings
from snakka.pipeline.errors import OptionError
from snakka.pipeline.option_values import Given, boolean, one_of, positive, size_bytes
from snakka.pipeline.versions import Numbered, Transition, Version
from snakka.protocol.records.compression import Compression

DEFAULT_BATCH_BYTES: Final = 512 << 10
DEFAULT_TRANSACTION_TIMEOUT_MS: Final = 300_000
EXACTLY_ONCE: Final = "exactly-once"
AT_LEAST_ONCE: Final = "at-least-once"
# What Spark itself puts among the options of a writer.
_OF_SPARK: Final = ("checkpointLocation", "path", "queryName")
SINK_OPTIONS: Final = (
    *_OF_SPARK,
    "batch.size",
    "bootstrap.servers",
    "compression.type",
    "delivery.guarantee",
    "includeTimestamps",
    "topic",
    "transaction.timeout.ms",
    "txnAppId",
    "txnPreviousState",
    "txnState",
    "txnVersion",
)


@dataclass(frozen=True, slots=True)
class SinkOptions:
    bootstrap_servers: str
    client_settings: ClientSettings
    topic: str | None
    is_exactly_once: bool
    compression: Compression
    batch_bytes: int
    transaction_timeout_ms: int
    include_timestamps: bool
    application: tuple[str, Version] | None


def read_sink_options(options: Mapping[str, str]) -> SinkOptions:
    given = Given(options, SINK_OPTIONS)
    codec = given.read(
        "compression.type", one_of(*(each.name.lower() for each in Compression)), "none"
    )
    guarantee = given.read("delivery.guarantee", one_of(EXACTLY_ONCE, AT_LEAST_ONCE), EXACTLY_ONCE)
    return SinkOptions(
        bootstrap_servers=given.required("bootstrap.servers"),
        client_settings=given.client_settings(),
        topic=given.read("topic", str, None) or None,
        is_exactly_once=guarantee == EXACTLY_ONCE,
        compression=Compression[codec.upper()],
        batch_bytes=given.read("batch.size", size_bytes, DEFAULT_BATCH_BYTES),
        transaction_timeout_ms=given.read(
            "transaction.timeout.ms", positive, DEFAULT_TRANSACTION_TIMEOUT_MS
        ),
        include_timestamps=given.read("includeTimestamps", boolean, False),
        application=_read_application(given),
    )


def _read_application(given: Given) -> tuple[str, Version] | None:
    named = {each for each in ("txnAppId", "txnVersion", "txnState") if each in given}
    if not named:
        return None
    if "txnAppId" not in named or len(named) != 2:
        raise OptionError("the option txnAppId goes with one of txnVersion and txnState")
    application_id = given.required("txnAppId")
    if "txnState" in named:
        previous = given.read("txnPreviousState", str, "")
        return application_id, Transition(previous, given.required("txnState"))
    return application_id, Numbered(given.read("txnVersion", _version, 0))


def _version(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("is not a whole number")
    return int(text)
