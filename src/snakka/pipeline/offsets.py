"""Offsets as a Spark query knows them, in the JSON of Spark's own Kafka source. Pure.

`{"orders": {"0": 12, "1": -1}}` is a map of topics to partitions to offsets, where -2 stands for
the earliest and -1 for the latest; a query's checkpoint holds the same without special values. A
position is where a read is to begin or end, before anybody has asked a broker.

Not here: asking (broker.py), the options that give positions (options.py).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from snakka.client.records import TopicPartition

EARLIEST: Final = -2
LATEST: Final = -1
_INT64_MAX: Final = (1 << 63) - 1

Offsets = dict[TopicPartition, int]


class OffsetRange(NamedTuple):
    """Offsets of one partition from `start` on and before `end`."""

    where: TopicPartition
    start: int
    end: int

    def __str__(self) -> str:
        return f"offsets {self.start} to {self.end - 1} of {self.where}"


class At(NamedTuple):
    """A place in a partition: an offset, which may be EARLIEST or LATEST, or a timestamp."""

    offset: int = 0
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """Where reading begins or ends: the same for every partition, or each of them named."""

    everywhere: At | None = None
    named: Mapping[TopicPartition, At] = field(default_factory=dict)

    def of(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, At]:
        """The place in each of the partitions, which are to be just the named ones."""
        wanted = set(partitions)
        if self.everywhere is not None:
            return dict.fromkeys(wanted, self.everywhere)
        for what, which in (
            ("are missing", wanted - self.named.keys()),
            ("are not read", self.named.keys() - wanted),
        ):
            if which:
                listed = ", ".join(map(str, sorted(which)))
                raise ValueError(f"has to name every partition that is read: {listed} {what}")
        return dict(self.named)

    @property
    def is_latest(self) -> bool:
        return self.everywhere == At(LATEST) or At(LATEST) in self.named.values()

    @property
    def is_earliest(self) -> bool:
        return self.everywhere == At(EARLIEST) or At(EARLIEST) in self.named.values()


FROM_EARLIEST: Final = Position(At(EARLIEST))
TO_LATEST: Final = Position(At(LATEST))


def read_numbers(text: str) -> Offsets:
    """Numbers by topic and partition: offsets or timestamps."""
    return {
        TopicPartition(topic, _number(partition, 0)): _number(value, EARLIEST)
        for topic, partitions in _object(_parse(text)).items()
        for partition, value in _object(partitions).items()
    }


def read_assignment(text: str) -> list[TopicPartition]:
    """`{"orders": [0, 1]}` as partitions."""
    partitions = [
        TopicPartition(topic, _number(partition, 0))
        for topic, listed in _object(_parse(text)).items()
        for partition in _list(listed)
    ]
    if not partitions:
        raise ValueError("names no partition")
    return sorted(set(partitions))


def from_json(parsed: Mapping[str, Mapping[str, int]]) -> Offsets:
    """The offsets of a checkpoint."""
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in parsed.items()
        for partition, offset in partitions.items()
    }


def to_json(offsets: Offsets) -> dict[str, dict[str, int]]:
    """What goes into a checkpoint; equal offsets give equal text, which Spark compares."""
    parsed: dict[str, dict[str, int]] = {}
    for where, offset in sorted(offsets.items()):
        parsed.setdefault(where.topic, {})[str(where.partition)] = offset
    return parsed


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError("is not JSON") from None


def _object(parsed: Any) -> dict[str, Any]:
    if not isinstance(parsed, dict):
        raise ValueError(f"has {json.dumps(parsed)} where an object belongs")
    return parsed


def _list(parsed: Any) -> list[Any]:
    if not isinstance(parsed, list):
        raise ValueError(f"has {json.dumps(parsed)} where a list belongs")
    return parsed


def _number(value: Any, smallest: int) -> int:
    """A whole number: as JSON, or as the text of one, which keys and timestamps are."""
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f"has {json.dumps(value)} where a whole number belongs")
    if not smallest <= number <= _INT64_MAX:
        raise ValueError(f"has {number}, which is not within {smallest} to {_INT64_MAX}")
    return number
