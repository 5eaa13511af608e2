"""The segments of one log in order, and the files that come and go with them.

Invariants: there is at least one segment, the last is the active one, and base offsets rise.

A removed segment is renamed at once and unlinked later, by whoever has time: unlinking a gigabyte
stalls. Segments go one end first, so that a crash in between leaves no hole (file systems keep the
order of changes to a directory).
"""

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from operator import attrgetter
from typing import Final

from snakka.storage.names import (
    DELETED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SEGMENT_SUFFIXES,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.segment import Segment

_BASE_OFFSET: Final = attrgetter("base_offset")


class Segments:
    """An ordered collection of segments in one directory."""

    __slots__ = ("_segments", "directory", "files", "retired_paths")

    def __init__(self, files: OpenFiles, directory: str, segments: list[Segment]) -> None:
        self.files = files
        self.directory = directory
        self.retired_paths: list[str] = []  # renamed, to be unlinked
        self._segments = segments

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __getitem__(self, index: int) -> Segment:
        return self._segments[index]

    @property
    def active(self) -> Segment:
        return self._segments[-1]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self._segments)

    def floor_index(self, offset: int) -> int:
        """The index of the segment that would hold `offset`; the first for anything before it."""
        return max(0, bisect_right(self._segments, offset, key=_BASE_OFFSET) - 1)

    def from_offset(self, offset: int) -> list[Segment]:
        """The segment that would hold `offset`, and all after it."""
        return self._segments[self.floor_index(offset) :]

    def create(self, base_offset: int) -> Segment:
        """Adds an empty segment at the end."""
        segment = Segment(self.files, self.directory, base_offset)
        self.clear_files(base_offset)
        for suffix in (LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            self.files.get(segment.path(suffix), create=True)
        self._segments.append(segment)
        return segment

    def clear_files(self, base_offset: int) -> None:
        """Removes what a crash may have left under the names of a segment to be made."""
        leftover = Segment(self.files, self.directory, base_offset)
        for suffix in SEGMENT_SUFFIXES:
            path = leftover.path(suffix)
            try:
                self.files.disk.remove(path)
            except FileNotFoundError:
                continue
            self.files.forget(path)

    def remove_first(self, count: int) -> list[Segment]:
        """Takes `count` segments from the front, oldest first."""
        removed = self._segments[:count]
        self._segments = self._segments[count:]
        for segment in removed:
            self._retire(segment)
        return removed

    def remove_after(self, offset: int) -> list[Segment]:
        """Takes the segments whose base is above `offset`, newest first."""
        kept = bisect_right(self._segments, offset, key=_BASE_OFFSET)
        removed = self._segments[kept:]
        self._segments = self._segments[:kept]
        for segment in reversed(removed):
            self._retire(segment)
        return removed

    def holds(self, segments: list[Segment]) -> bool:
        """Whether just these segments are here, in a row."""
        first = self.floor_index(segments[0].base_offset)
        return self._segments[first : first + len(segments)] == segments

    def replace(self, replaced: list[Segment], cleaned: Segment) -> Segment:
        """Puts `cleaned`, complete and durable on disk, in the place of sealed segments.

        A crash leaves the old ones or the new one: once all of it is `.swap`, opening goes on here.
        """
        disk = self.files.disk
        first = self.floor_index(cleaned.base_offset)
        placed = Segment(
            self.files,
            self.directory,
            cleaned.base_offset,
            cleaned.size_bytes,
            has_transaction_index=cleaned.has_transaction_index,
        )
        for path, target in zip(cleaned.paths, placed.paths, strict=True):
            disk.rename(path, target + SWAP_SUFFIX)
        self._segments[first : first + len(replaced)] = [placed]
        for segment in replaced:
            self._retire(segment)
        for path in placed.paths:
            disk.rename(path + SWAP_SUFFIX, path)
        return placed

    def delete_retired(self) -> None:
        """Unlinks what was removed; may run anywhere, and be left to the next opening."""
        with suppress(IndexError):
            while True:
                path = self.retired_paths.pop()
                with suppress(FileNotFoundError):  # a later one took its name, and went with it
                    self.files.disk.remove(path)

    def was_renamed(self, directory: str) -> None:
        self.forget_files()
        self.retired_paths = [
            path.replace(self.directory, directory, 1) for path in self.retired_paths
        ]
        self.directory = directory
        for segment in self._segments:
            segment.directory = directory

    def forget_files(self) -> None:
        for segment in self._segments:
            for path in segment.paths:
                self.files.forget(path)

    def _retire(self, segment: Segment) -> None:
        segment.lent_indexes = None
        for path in segment.paths:
            self.files.disk.rename(path, path + DELETED_SUFFIX)
            self.files.forget(path)
            self.retired_paths.append(path + DELETED_SUFFIX)
