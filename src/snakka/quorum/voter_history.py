"""Which voters and which kraft.version hold from which offset of the log on (KIP-853). Pure.

A replica goes by the last voter set in its log, committed or not; a truncation takes the later
ones away again. Invariant: neighbours have overlapping majorities, because voters change one at a
time. A set at offset -1 comes from the checkpoint that formatted the log.

Not here: reading the records (control_records.py).
"""

from bisect import bisect_left, bisect_right
from typing import Final, Generic, NamedTuple, TypeVar

from snakka.quorum.voters import VoterSet

STATIC_VOTERS: Final = 0  # the level of kraft.version at which voters are configured
DYNAMIC_VOTERS: Final = 1  # the level at which they are in the log

T = TypeVar("T")


class Entry(NamedTuple, Generic[T]):
    offset: int
    value: T


class OffsetHistory(Generic[T]):
    """Values by the offset they hold from, rising."""

    __slots__ = ("_offsets", "_values")

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._values: list[T] = []

    def add(self, offset: int, value: T) -> None:
        if self._offsets and offset <= self._offsets[-1]:
            raise ValueError(f"offset {offset} does not rise above {self._offsets[-1]}")
        self._offsets.append(offset)
        self._values.append(value)

    def find_last(self) -> Entry[T] | None:
        return Entry(self._offsets[-1], self._values[-1]) if self._offsets else None

    def find_before_last(self) -> T | None:
        return self._values[-2] if len(self._values) > 1 else None

    def find_at(self, offset: int) -> T | None:
        """What holds at `offset`."""
        index = bisect_right(self._offsets, offset) - 1
        return self._values[index] if index >= 0 else None

    def truncate_from_end(self, end_offset: int) -> None:
        kept = bisect_left(self._offsets, end_offset)
        del self._offsets[kept:], self._values[kept:]

    def truncate_from_start(self, start_offset: int) -> None:
        """Forgets what held before `start_offset`, but not what holds there."""
        gone = max(0, bisect_right(self._offsets, start_offset) - 1)
        del self._offsets[:gone], self._values[:gone]

    def clear(self) -> None:
        self._offsets.clear()
        self._values.clear()


class VoterHistory:
    """The voter sets and the kraft.version of one log."""

    __slots__ = ("_sets", "_static", "_versions")

    def __init__(self, static_voters: VoterSet) -> None:
        self._static = static_voters
        self._sets: OffsetHistory[VoterSet] = OffsetHistory()
        self._versions: OffsetHistory[int] = OffsetHistory()

    @property
    def voters(self) -> VoterSet:
        """The set to go by: the last in the log, or what is configured if it holds none."""
        entry = self._sets.find_last()
        return self._static if entry is None else entry.value

    @property
    def kraft_version(self) -> int:
        entry = self._versions.find_last()
        return STATIC_VOTERS if entry is None else entry.value

    @property
    def is_dynamic(self) -> bool:
        return self.kraft_version >= DYNAMIC_VOTERS

    def find_last_entry(self) -> Entry[VoterSet] | None:
        return self._sets.find_last()

    def find_previous_voters(self) -> VoterSet | None:
        """The set that the last one has replaced."""
        return self._sets.find_before_last()

    def voters_at(self, offset: int) -> VoterSet | None:
        """The set in the log at `offset`; None if there was none, as with static voters."""
        return self._sets.find_at(offset)

    def kraft_version_at(self, offset: int) -> int:
        version = self._versions.find_at(offset)
        return STATIC_VOTERS if version is None else version

    def add_voters(self, offset: int, voters: VoterSet) -> None:
        last = self._sets.find_last()
        # The set that formatted a node may be any: other nodes were formatted with another.
        if (
            last is not None
            and last.offset >= 0
            and not last.value.has_overlapping_majority(voters)
        ):
            raise ValueError(f"voters {last.value} to {voters} at {offset}: more than one change")
        self._sets.add(offset, voters)

    def add_kraft_version(self, offset: int, version: int) -> None:
        self._versions.add(offset, version)

    def truncate_from_end(self, end_offset: int) -> None:
        self._sets.truncate_from_end(end_offset)
        self._versions.truncate_from_end(end_offset)

    def truncate_from_start(self, start_offset: int) -> None:
        self._sets.truncate_from_start(start_offset)
        self._versions.truncate_from_start(start_offset)

    def clear(self) -> None:
        self._sets.clear()
        self._versions.clear()
