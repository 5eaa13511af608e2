"""Conditions of a query on topic, partition, offset and timestamp, as less to read. Pure.

They only narrow: Spark applies every condition again, so a bound may be too wide and never too
narrow. A timestamp narrows from below alone: producers stamp records as they like, so an earlier
one may come after a later one.

Not here: finding the offset of a timestamp (broker.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from snakka.client.records import TopicPartition
from snakka.pipeline.admission import UNLIMITED
from snakka.pipeline.offsets import OffsetRange

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class Condition(NamedTuple):
    """One conjunct: a column, a comparison and what with. `in` has a sequence."""

    column: str
    comparison: str
    value: Any


@dataclass(slots=True)
class Bounds:
    """What all conditions together leave to read."""

    start: int = 0
    end: int = UNLIMITED
    timestamp_ms: int | None = None
    _allowed: dict[str, set[object]] = field(default_factory=dict)

    def narrow(self, condition: Condition) -> None:
        match condition:
            case Condition("offset", "in", values):
                self._at_least(min(values, default=UNLIMITED))
                self._before(max(values, default=-1) + 1)
            case Condition("offset", comparison, int() as value):
                if comparison in ("=", ">", ">="):
                    self._at_least(value + (comparison == ">"))
                if comparison in ("=", "<", "<="):
                    self._before(value + (comparison != "<"))
            case Condition("timestamp", "=" | ">" | ">=", datetime() as value):
                ms = _milliseconds(value)
                self.timestamp_ms = ms if self.timestamp_ms is None else max(self.timestamp_ms, ms)
            case Condition("topic" | "partition" as column, "=", value):
                self._allow(column, [value])
            case Condition("topic" | "partition" as column, "in", values):
                self._allow(column, values)

    def admits(self, where: TopicPartition) -> bool:
        topics, partitions = self._allowed.get("topic"), self._allowed.get("partition")
        return (topics is None or where.topic in topics) and (
            partitions is None or where.partition in partitions
        )

    def cut(self, whole: OffsetRange) -> OffsetRange:
        start = max(whole.start, self.start)
        return OffsetRange(whole.where, start, max(start, min(whole.end, self.end)))

    def _at_least(self, offset: int) -> None:
        self.start = max(self.start, offset)

    def _before(self, offset: int) -> None:
        self.end = min(self.end, offset)

    def _allow(self, column: str, values: Iterable[object]) -> None:
        allowed = self._allowed.get(column)
        self._allowed[column] = set(values) if allowed is None else allowed & set(values)


def _milliseconds(value: datetime) -> int:
    """The last millisecond that is not after `value`."""
    # Spark hands instants over without a zone in the time of the process, as Python has them.
    return (value.astimezone(UTC) - _EPOCH) // _MILLISECOND
