"""A file of sorted entries of one size: the shape of offset and time indexes on disk.

The newest entries of a growing file stay in memory until they fill a page; everything older is
read when it is asked for, so that an index that nobody looks at costs nothing. Java keeps a sparse
mapping of `segment.index.bytes` per index and cuts it to size on roll and close; here files are
never longer than their entries, which is the same file after a clean shutdown.
"""

import struct
from typing import Final

from snakka.storage.open_files import OpenFiles

_PAGE_ENTRIES: Final = 512


class EntryFile:
    """Entries of two numbers each, in rising order of both."""

    __slots__ = ("_ends", "_files", "_layout", "_path", "_tail", "_written", "count")

    def __init__(self, files: OpenFiles, path: str, layout: struct.Struct) -> None:
        self._files = files
        self._path = path
        self._layout = layout
        self._written = files.get(path).size() // layout.size  # entries that are in the file
        self._tail = bytearray()  # entries that are not
        self.count = self._written
        self._ends: tuple[int, tuple[int, int], tuple[int, int]] | None = None  # of so many entries

    @property
    def path(self) -> str:
        return self._path

    def __len__(self) -> int:
        return self.count

    def entry(self, slot: int) -> tuple[int, int]:
        first, second = self._layout.unpack(self._read(slot, 1))
        return first, second

    @property
    def last(self) -> tuple[int, int] | None:
        return self.entry(self.count - 1) if self.count else None

    def append(self, first: int, second: int) -> None:
        self._tail += self._layout.pack(first, second)
        self.count += 1

    @property
    def has_full_page(self) -> bool:
        """Whether enough is in memory to be written."""
        return self.count - self._written >= _PAGE_ENTRIES

    def write(self) -> None:
        if self._tail:
            position = self._written * self._layout.size
            self._files.get(self._path).write([self._tail], position)
            self._written = self.count
            self._tail = bytearray()

    def truncate(self, count: int) -> None:
        del self._tail[max(0, count - self._written) * self._layout.size :]
        self.count = min(self.count, count)
        self._ends = None
        if count <= self._written:  # and cut off a torn entry
            self._written = count
            self._files.get(self._path).truncate(count * self._layout.size)

    def find_slot(self, target: int, field: int = 0) -> int:
        """The last slot whose `field` is not above `target`, or -1."""
        return self.find(target, field)[0]

    def find(self, target: int, field: int = 0) -> tuple[int, tuple[int, int] | None]:
        """The same, with its entry."""
        low, high = 0, len(self)  # the answer + 1 is within
        if high > self._written:
            if not self._written or self.entry(self._written)[field] <= target:
                low = self._written
            else:
                high = self._written
        size, unpack = self._layout.size, self._layout.unpack_from
        page, start, low, high = self._find_page(target, field, low, high)
        while low < high:
            middle = (low + high) // 2
            if unpack(page, (middle - start) * size)[field] <= target:
                low = middle + 1
            else:
                high = middle
        slot = low - 1
        if slot < 0:
            return slot, None
        return slot, unpack(page, (slot - start) * size) if slot >= start else self.entry(slot)

    def _find_page(
        self, target: int, field: int, low: int, high: int
    ) -> tuple[bytes | bytearray, int, int, int]:
        """A page of entries and its first slot, and between which of them the answer + 1 is.

        Most indexes rise evenly, so the first look is where the answer would be then: every read of
        a file costs microseconds.
        """
        size, unpack = self._layout.size, self._layout.unpack_from
        middle = low if high - low <= _PAGE_ENTRIES else self._guess(target, field, high)
        while True:
            start = max(low, min(middle - _PAGE_ENTRIES // 2, high - _PAGE_ENTRIES))
            count = min(_PAGE_ENTRIES, high - start)
            page, end = self._read(start, count), start + count
            if start > low and unpack(page)[field] > target:
                high = start
            elif end < high and unpack(page, (count - 1) * size)[field] <= target:
                low = end
            else:
                return page, start, start, end
            middle = (low + high) // 2

    def _guess(self, target: int, field: int, high: int) -> int:
        """About where the answer is among the first `high` entries, if they rise evenly."""
        if self._ends is None or self._ends[0] != high:
            self._ends = (high, self.entry(0), self.entry(high - 1))
        _, first, last = self._ends
        return high * (target - first[field]) // max(1, last[field] - first[field])

    def find_damage(self) -> str | None:
        """Why this cannot be an index: a torn entry, or entries that do not rise."""
        size = self._files.get(self._path).size()
        if size % self._layout.size:
            return f"{size} bytes are not a multiple of {self._layout.size}"
        # A file that Java preallocated and never cut ends in zeros.
        if len(self) > 1 and self.entry(len(self) - 1)[0] <= self.entry(0)[0]:
            return "its last entry is not above its first"
        return None

    def _read(self, slot: int, count: int) -> bytes | bytearray:
        """Some entries, which lie either all in the file or all in memory."""
        size = self._layout.size
        if slot >= self._written:
            start = (slot - self._written) * size
            return self._tail[start : start + count * size]
        return self._files.get(self._path).read(slot * size, count * size)
