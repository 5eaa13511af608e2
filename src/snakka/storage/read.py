"""What a read hands out: runs of bytes in files, to be copied or to leave by sendfile.

A run goes on in the next segment only where it has reached the end of its own, so a read that is
cut short never skips records. It may end in the middle of a batch; readers pass over the rest.

Not here: which offsets a reader may see (log.py and the replication above it).
"""

from typing import NamedTuple

from snakka.storage.cold import ColdReadError, no_waiting
from snakka.storage.disk import File
from snakka.storage.segment import BatchPosition, Segment
from snakka.storage.segments import Segments


class Run(NamedTuple):
    """Bytes in a row of one file, which stays open as long as the run is held."""

    file: File
    position: int
    size_bytes: int


class LogRead(NamedTuple):
    """The runs of one read, in order, and the segment that the last one lies in."""

    runs: tuple[Run, ...] = ()
    last_segment: Segment | None = None

    @property
    def size_bytes(self) -> int:
        return sum(run.size_bytes for run in self.runs)

    def copy(self) -> bytes:
        return b"".join(run.file.read(run.position, run.size_bytes) for run in self.runs)

    def find_copy(self) -> bytes | None:
        """A copy, unless it would have to wait for the disk."""
        try:
            with no_waiting():
                return self.copy()
        except ColdReadError:
            return None


class ReadBound(NamedTuple):
    """Where the batch begins that holds `offset`, or would."""

    offset: int
    segment: Segment
    position: int


class ReadBounds:
    """Where reads end: readers of one isolation share their bound, kept for the next of them."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: ReadBound | None = None

    def find(self, segments: Segments, offset: int, log_end_offset: int) -> ReadBound:
        if offset >= log_end_offset:
            active = segments.active
            return ReadBound(log_end_offset, active, active.size_bytes)
        if self._last is None or self._last.offset != offset:
            segment = segments[segments.floor_index(offset)]
            found = segment.find_batch(offset)
            position = found.position if found else segment.size_bytes
            self._last = ReadBound(offset, segment, position)
        return self._last

    def forget(self) -> None:
        """The files are not what they were."""
        self._last = None


def read_runs(
    segments: Segments, offset: int, bound: ReadBound, max_bytes: int, *, min_one_batch: bool
) -> LogRead:
    """From the batch that holds `offset` up to `bound`, `max_bytes` long.

    With `min_one_batch` the first batch is handed out whole, however large.
    """
    index, found = _find_first(segments, offset)
    if found is None or found.header.last_offset >= bound.offset:
        return LogRead()
    first_bytes = found.header.size_bytes
    if first_bytes > max_bytes and not min_one_batch:
        return LogRead()
    left, position, runs = max(max_bytes, first_bytes), found.position, []
    while True:
        segment = segments[index]
        end = bound.position if segment is bound.segment else segment.size_bytes
        size = min(left, end - position)
        if size > 0:
            runs.append(Run(segment.file, position, size))
            left -= size
        if left <= 0 or segment is bound.segment or index + 1 == len(segments):
            return LogRead(tuple(runs), segment)
        index, position = index + 1, 0


def _find_first(segments: Segments, offset: int) -> tuple[int, BatchPosition | None]:
    """The first batch that ends at `offset` or later; compaction may have left it further on."""
    for index in range(segments.floor_index(offset), len(segments)):
        found = segments[index].find_batch(offset)
        if found is not None:
            return index, found
    return 0, None
