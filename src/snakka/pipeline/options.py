"""What a user may ask of the source: option names to one checked value. Pure.

Names and meanings are those of Spark's own Kafka source where it has them. Ours alone are
`maxBytesPerTrigger`, `maxPartitionBytes` and `pushFilters`; what differs is that
`isolation.level` is read_committed and `includeHeaders` true unless told otherwise.

Not here: reading the text of an option (option_values.py), the sink's options (sink_options.py).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from snakka.client.records import TopicPartition
from snakka.client.settings import ClientSettings
from snakka.pipeline.errors import OptionError
from snakka.pipeline.offsets import (
    EARLIEST,
    FROM_EARLIEST,
    LATEST,
    TO_LATEST,
    At,
    Position,
    read_assignment,
    read_numbers,
)
from snakka.pipeline.option_values import (
    Given,
    boolean,
    duration_ms,
    one_of,
    positive,
    size_bytes,
)

DEFAULT_PARTITION_BYTES: Final = 256 << 20
DEFAULT_TRIGGER_DELAY_MS: Final = 15 * 60 * 1000
_SUBSCRIPTIONS: Final = ("subscribe", "subscribePattern", "assign")
_BATCH_ONLY: Final = ("pushFilters", "endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp")
_STREAM_ONLY: Final = (
    "group.id",
    "groupIdPrefix",
    "maxBytesPerTrigger",
    "maxOffsetsPerTrigger",
    "maxTriggerDelay",
    "minOffsetsPerTrigger",
)
SOURCE_OPTIONS: Final = (
    *_SUBSCRIPTIONS,
    *_BATCH_ONLY,
    *_STREAM_ONLY,
    "bootstrap.servers",
    "failOnDataLoss",
    "includeHeaders",
    "isolation.level",
    "maxPartitionBytes",
    "maxRecordsPerPartition",
    "minPartitions",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "startingTimestamp",
)


@dataclass(frozen=True, slots=True)
class Subscription:
    """Which partitions to read: of named topics, of topics that match, or just these."""

    topics: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    partitions: tuple[TopicPartition, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceOptions:
    bootstrap_servers: str
    client_settings: ClientSettings
    subscription: Subscription
    starting: Position | None
    ending: Position
    later_than_any: str  # what startingOffsetsByTimestampStrategy says: error or latest
    fail_on_data_loss: bool
    include_headers: bool
    is_read_committed: bool
    group_id: str | None
    max_rows_per_trigger: int | None
    max_bytes_per_trigger: int | None
    min_rows_per_trigger: int | None
    max_trigger_delay_ms: int
    max_partition_bytes: int
    max_partition_rows: int | None
    min_partitions: int | None
    push_filters: bool


def read_source_options(options: Mapping[str, str]) -> SourceOptions:
    given = Given(options, SOURCE_OPTIONS)
    return SourceOptions(
        bootstrap_servers=given.required("bootstrap.servers"),
        client_settings=given.client_settings(),
        subscription=_read_subscription(given),
        starting=_read_position(given, "starting"),
        ending=_read_position(given, "ending") or TO_LATEST,
        later_than_any=given.read(
            "startingOffsetsByTimestampStrategy", one_of("error", "latest"), "error"
        ),
        fail_on_data_loss=given.read("failOnDataLoss", boolean, True),
        include_headers=given.read("includeHeaders", boolean, True),
        is_read_committed=given.read(
            "isolation.level", one_of("read_committed", "read_uncommitted"), "read_committed"
        )
        == "read_committed",
        group_id=_read_group_id(given),
        max_rows_per_trigger=given.read("maxOffsetsPerTrigger", positive, None),
        max_bytes_per_trigger=given.read("maxBytesPerTrigger", size_bytes, None),
        min_rows_per_trigger=given.read("minOffsetsPerTrigger", positive, None),
        max_trigger_delay_ms=given.read("maxTriggerDelay", duration_ms, DEFAULT_TRIGGER_DELAY_MS),
        max_partition_bytes=given.read("maxPartitionBytes", size_bytes, DEFAULT_PARTITION_BYTES),
        max_partition_rows=given.read("maxRecordsPerPartition", positive, None),
        min_partitions=given.read("minPartitions", positive, None),
        push_filters=given.read("pushFilters", boolean, False),
    )


def check_batch(options: SourceOptions) -> Position:
    """Where a batch query starts."""
    starting = options.starting or FROM_EARLIEST
    if starting.is_latest:
        raise OptionError("option startingOffsets: a batch query cannot start at the latest offset")
    if options.ending.is_earliest:
        raise OptionError("option endingOffsets: a batch query cannot end at the earliest offset")
    return starting


def check_stream(options: SourceOptions) -> Position:
    """Where a streaming query starts that has no checkpoint yet."""
    if options.ending != TO_LATEST:
        raise OptionError(
            "option endingOffsets: a streaming query has no end; see Trigger.AvailableNow"
        )
    return options.starting or TO_LATEST


def _read_subscription(given: Given) -> Subscription:
    named = [each for each in _SUBSCRIPTIONS if each in given]
    if len(named) != 1:
        what = f"not {' and '.join(named)}" if named else "none is"
        raise OptionError(f"one of the options {', '.join(_SUBSCRIPTIONS)} has to be given, {what}")
    return Subscription(
        given.read("subscribe", _topics, ()),
        given.read("subscribePattern", _pattern, None),
        tuple(given.read("assign", read_assignment, [])),
    )


def _topics(text: str) -> tuple[str, ...]:
    topics = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not topics:
        raise ValueError("names no topic")
    return topics


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None


def _read_position(given: Given, which: str) -> Position | None:
    """The first of the three ways to say it that is given, in the order of Spark's own source."""
    everywhere = given.read(f"{which}Timestamp", positive, None)
    if everywhere is not None:
        return Position(At(timestamp_ms=everywhere))
    timestamps = given.read(f"{which}OffsetsByTimestamp", read_numbers, None)
    if timestamps is not None:
        return Position(named={each: At(timestamp_ms=ms) for each, ms in timestamps.items()})
    return given.read(f"{which}Offsets", _offsets, None)


def _offsets(text: str) -> Position:
    special = {"earliest": EARLIEST, "latest": LATEST}.get(text.lower())
    if special is not None:
        return Position(At(special))
    if not text.startswith("{"):
        raise ValueError("is none of earliest, latest or JSON")
    return Position(named={each: At(offset) for each, offset in read_numbers(text).items()})


def _read_group_id(given: Given) -> str | None:
    """The group whose offsets show how far a query is; a prefix is completed by what is read."""
    group_id = given.read("group.id", str, None)
    prefix = given.read("groupIdPrefix", str, None)
    if group_id is not None or prefix is None:
        return group_id
    return f"{prefix}-{next(given.required(each) for each in _SUBSCRIPTIONS if each in given)}"
