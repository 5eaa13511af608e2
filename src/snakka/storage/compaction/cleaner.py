"""One pass over a log, batch by batch: first the keys of its dirty part, then the rewriting.

Everything here reads sealed segments by their own file handles and writes files that nobody else
looks at, so it runs in any thread while the log is appended to. What of the log it has to know was
taken down in a `Pass` before. Memory: the offset map, a window of the sweep, a window of output.

A batch that cannot be read, or whose CRC is wrong, raises `UncleanableError`; what was being
written is removed. Not here: putting a finished segment in its place (compact.py).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import Batch, BatchHeader
from snakka.storage.compaction.cleanable import Cleanable, GroupFacts, group_sizes
from snakka.storage.compaction.offset_map import OffsetMap
from snakka.storage.compaction.retained import BatchFilter, Horizon, LastBatch, scan_records
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.compaction.transactions import CleanedTransactions
from snakka.storage.config import CleanerConfig, LogConfig
from snakka.storage.disk import Disk, File
from snakka.storage.errors import StorageError, UncleanableError
from snakka.storage.names import (
    CLEANED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SEGMENT_SUFFIXES,
    TIME_INDEX_SUFFIX,
    offset_file_name,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.scan import read_batch, sweep
from snakka.storage.segment import Segment
from snakka.storage.segment_writer import SegmentWriter
from snakka.storage.transaction_index import AbortedTransaction

_WRITE_BYTES: Final = 1024 * 1024
_OPEN_FILES_MAX: Final = 8


class CleaningStoppedError(StorageError):
    """Somebody has set `Cleaner.is_stopped`."""


class Source(NamedTuple):
    """A sealed segment to be cleaned; `end_offset` is the next segment's base."""

    base_offset: int
    end_offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass is to clean, and what it has to know of the log. Immutable."""

    directory: str
    config: LogConfig
    cleanable: Cleanable
    sources: tuple[Source, ...]  # from the log's first segment to the end of the pass
    dirty_position: int  # of the first dirty offset, in its segment
    aborted: tuple[AbortedTransaction, ...]
    later_bases: tuple[int, ...]  # of the segments after the pass that may hold their markers
    last_batches: Mapping[int, LastBatch]
    now_ms: int


class Cleaner:
    """Carries out one pass, a group of segments at a time."""

    def __init__(self, disk: Disk, work: Pass, config: CleanerConfig, throttle: Throttle) -> None:
        self.is_stopped = False  # set by whoever cannot wait for the end
        self._disk = disk
        self._work = work
        self._throttle = throttle
        self._map = OffsetMap(config.dedupe_buffer_size, config.io_buffer_load_factor)
        self._filter = BatchFilter(
            self._map,
            CleanedTransactions(work.aborted),
            work.last_batches,
            work.cleanable.end_offset,
            Horizon(work.now_ms, work.config.delete_retention_ms),
        )

    @property
    def end_offset(self) -> int:
        """The first offset that the next pass has to look at."""
        return self._map.latest_offset + 1

    def map_keys(self) -> list[int]:
        """Learns the last offset of the dirty part's keys; says how to group the segments.

        The dirty records are synced first, and the markers that decide on them: no record must go
        before what it goes for is there to stay.
        """
        self._discard_leftovers()
        for base_offset in self._work.later_bases:
            self._disk.open(self._path(base_offset, LOG_SUFFIX)).sync()
        first_dirty = self._work.cleanable.first_dirty_offset
        transactions = CleanedTransactions(
            entry for entry in self._work.aborted if entry.last_offset >= first_dirty
        )

        def take(batch: Batch) -> bool:
            return self._put(batch, transactions)

        position = self._work.dirty_position
        for source in self._work.sources:
            if source.end_offset <= first_dirty:
                continue
            self._open(source).sync()
            if not self._walk(source, position, take):
                break
            self._map.latest_offset = source.end_offset - 1
            position = 0
        if self.end_offset <= first_dirty:
            raise UncleanableError(
                self._work.directory, 0, "one batch has more keys than the dedupe buffer"
            )
        return self._group()

    def clean(self, sources: Sequence[Source]) -> Segment:
        """Writes `sources` anew as one `.cleaned` segment, durably."""
        files = OpenFiles(self._disk, _OPEN_FILES_MAX)
        directory, config = self._work.directory, self._work.config
        base_offset = sources[0].base_offset
        discard_cleaned(self._disk, directory, base_offset)
        cleaned = Segment(files, directory, base_offset, state=CLEANED_SUFFIX)
        for suffix in (LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            files.get(cleaned.path(suffix), create=True)
        writer = SegmentWriter(cleaned, config, roll_jitter_ms=0, now_ms=self._work.now_ms)
        try:
            self._write(sources, writer)
            for path in cleaned.paths:
                files.get(path).sync()
            newest = self._disk.status(self._path(sources[-1].base_offset, LOG_SUFFIX)).modified_ms
            self._disk.set_modified(cleaned.path(LOG_SUFFIX), newest)
            self._disk.sync_directory(directory)
        except BaseException:
            discard_cleaned(self._disk, directory, base_offset)
            raise
        return cleaned

    def _discard_leftovers(self) -> None:
        """To an opening, a `.cleaned` beside a later `.swap` says that the swap is not complete."""
        directory = self._work.directory
        for name in self._disk.names(directory):
            if name.endswith(CLEANED_SUFFIX):
                self._disk.remove(f"{directory}/{name}")

    def _put(self, batch: Batch, transactions: CleanedTransactions) -> bool:
        header = batch.header
        first_dirty = self._work.cleanable.first_dirty_offset
        if header.is_control:
            transactions.is_idle(batch)
        elif not transactions.is_aborted(header) and not self._map.put_all(
            scan_records(batch), first_dirty
        ):
            return False
        if header.last_offset >= first_dirty:
            self._map.latest_offset = header.last_offset
        return True

    def _group(self) -> list[int]:
        """How many segments go together, counted from the first."""
        facts = [
            GroupFacts(source.base_offset, source.end_offset, source.size_bytes, index_bytes)
            for source in self._work.sources
            if source.base_offset < self.end_offset
            for index_bytes in [self._index_bytes(source)]
        ]
        return group_sizes(facts, self._work.config)

    def _index_bytes(self, source: Source) -> int:
        paths = [
            self._path(source.base_offset, suffix)
            for suffix in (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX)
        ]
        return max(self._disk.status(path).size_bytes for path in paths)

    def _write(self, sources: Sequence[Source], writer: SegmentWriter) -> None:
        pending_bytes = 0
        transactions = self._filter.transactions

        def take(batch: Batch) -> bool:
            nonlocal pending_bytes
            retained = self._filter.retain(batch)
            for aborted in transactions.ended:
                writer.stage_aborted(aborted)
            transactions.ended.clear()
            if retained is not None:
                writer.stage(BatchHeader.read(retained), retained)
                pending_bytes += len(retained)
            if pending_bytes >= _WRITE_BYTES:
                writer.write()
                self._throttle.after(pending_bytes)
                pending_bytes = 0
            return True

        for source in sources:
            self._walk(source, 0, take)
        writer.write()
        writer.close()

    def _walk(self, source: Source, start: int, take: Callable[[Batch], bool]) -> bool:
        """Shows the batches of a segment to `take`, until it has enough."""
        file, position = self._open(source), start
        swept = sweep(file, start, source.size_bytes, source.base_offset, has_gaps=True)
        try:
            for _, batch in swept:
                if self.is_stopped:
                    raise CleaningStoppedError(self._work.directory)
                whole = batch if batch.data else read_batch(file, position, batch.header)
                if not take(whole):
                    return False
                position += batch.header.size_bytes
                self._throttle.after(batch.header.size_bytes)
        except MalformedError as error:
            raise UncleanableError(
                self._path(source.base_offset, LOG_SUFFIX), position, error.reason
            ) from None
        return True

    def _open(self, source: Source) -> File:
        return self._disk.open(self._path(source.base_offset, LOG_SUFFIX))

    def _path(self, base_offset: int, suffix: str) -> str:
        return f"{self._work.directory}/{offset_file_name(base_offset, suffix)}"


def discard_cleaned(disk: Disk, directory: str, base_offset: int) -> None:
    """Removes a `.cleaned` segment, whole or not."""
    for suffix in SEGMENT_SUFFIXES:
        with suppress(FileNotFoundError):
            disk.remove(f"{directory}/{offset_file_name(base_offset, suffix, CLEANED_SUFFIX)}")
