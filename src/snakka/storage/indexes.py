"""The offset index and the time index of a segment.

An offset index entry says at which position the batch begins whose last offset it names. A time
index entry says: no record up to this offset, the last of its batch, has a later timestamp. Both
are sparse (`index.interval.bytes`), and offsets count from the segment's base.
"""

import struct
from typing import Final, NamedTuple

from snakka.protocol.records.batch import NO_TIMESTAMP
from snakka.storage.entry_file import EntryFile
from snakka.storage.open_files import OpenFiles

_OFFSET_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")

RELATIVE_OFFSET_MAX: Final = (1 << 31) - 1


class OffsetPosition(NamedTuple):
    offset: int
    position: int


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int


class OffsetIndex:
    """Offsets to positions."""

    __slots__ = ("_base_offset", "entries")

    def __init__(self, files: OpenFiles, path: str, base_offset: int) -> None:
        self.entries = EntryFile(files, path, _OFFSET_ENTRY)
        self._base_offset = base_offset

    def append(self, last_offset: int, position: int) -> None:
        self.entries.append(last_offset - self._base_offset, position)

    def lookup(self, offset: int) -> OffsetPosition:
        """The last entry not above `offset`; the start of the segment where there is none."""
        return self._place(self.entries.find(offset - self._base_offset)[1])

    @property
    def last_entry(self) -> OffsetPosition:
        return self._place(self.entries.last)

    def find_upper_bound(self, position: int) -> int | None:
        """The offset of the first entry at `position` or later."""
        slot = self.entries.find_slot(position - 1, field=1) + 1
        return self._place(self.entries.entry(slot)).offset if slot < len(self.entries) else None

    def truncate_to(self, offset: int) -> None:
        """Drops the entries at `offset` or above."""
        self.entries.truncate(self.entries.find_slot(offset - self._base_offset - 1) + 1)

    def room(self, segment_index_bytes: int) -> int:
        """How many more entries may be added."""
        return segment_index_bytes // _OFFSET_ENTRY.size - len(self.entries)

    def _place(self, entry: tuple[int, int] | None) -> OffsetPosition:
        if entry is None:
            return OffsetPosition(self._base_offset, 0)
        relative_offset, position = entry
        return OffsetPosition(self._base_offset + relative_offset, position)


class TimeIndex:
    """Timestamps to offsets."""

    __slots__ = ("_base_offset", "_last_timestamp", "entries")

    def __init__(self, files: OpenFiles, path: str, base_offset: int) -> None:
        self.entries = EntryFile(files, path, _TIME_ENTRY)
        self._base_offset = base_offset
        self._last_timestamp = self.last_entry.timestamp

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Adds an entry, unless it would say nothing new."""
        if timestamp > self._last_timestamp:
            self.entries.append(timestamp, offset - self._base_offset)
            self._last_timestamp = timestamp

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The last entry not later than `timestamp`."""
        return self._place(self.entries.find(timestamp)[1])

    @property
    def last_entry(self) -> TimestampOffset:
        return self._place(self.entries.last)

    def truncate_to(self, offset: int) -> None:
        """Drops the entries at `offset` or above."""
        relative_offset = offset - self._base_offset
        self.entries.truncate(self.entries.find_slot(relative_offset - 1, field=1) + 1)
        self._last_timestamp = self.last_entry.timestamp

    def room(self, segment_index_bytes: int) -> int:
        """One entry is kept free for the segment's largest timestamp, added when it is sealed."""
        return segment_index_bytes // _TIME_ENTRY.size - 1 - len(self.entries)

    def _place(self, entry: tuple[int, int] | None) -> TimestampOffset:
        if entry is None:
            return TimestampOffset(NO_TIMESTAMP, self._base_offset)
        timestamp, relative_offset = entry
        return TimestampOffset(timestamp, self._base_offset + relative_offset)
