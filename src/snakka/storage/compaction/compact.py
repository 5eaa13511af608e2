"""Compacting one log: the steps of a pass, and who takes them.

The log belongs to its event loop, and `Compaction` touches it only in `__init__` and `place`. What
lies in between runs in a thread. A log that was cut, or that retention has shortened, in the
meantime voids the pass: what was not placed yet is thrown away, and nothing is lost.

Leaders and followers compact alike, each its own log. After a crash the next pass starts where the
cleaner-offset-checkpoint says.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple, TypeVar

from snakka.storage.compaction.cleanable import Cleanable, LogFacts, SegmentFacts, find_cleanable
from snakka.storage.compaction.cleaner import Cleaner, Pass, Source, discard_cleaned
from snakka.storage.compaction.retained import LastBatch
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.config import NEVER, CleanerConfig
from snakka.storage.errors import StorageError
from snakka.storage.log import Log
from snakka.storage.lookup import find_aborted_transactions
from snakka.storage.scan import scan_headers
from snakka.storage.segment import Segment

T = TypeVar("T")


class Compacted(NamedTuple):
    """A pass that came to its end: where the next one begins, and what it was good for."""

    end_offset: int
    bytes_before: int
    bytes_after: int


def look_at(log: Log, cleaned_offset: int | None, *, now_ms: int) -> Cleanable:
    """What could be cleaned of `log` now."""
    facts = LogFacts(
        log.log_start_offset, log.log_end_offset, log.last_stable_offset, cleaned_offset
    )
    has_max_lag = log.config.max_compaction_lag_ms < NEVER
    segments = [
        SegmentFacts(
            segment.base_offset,
            segment.size_bytes,
            _first_timestamp(segment) if has_max_lag else -1,
            segment.largest_timestamp.timestamp,
        )
        for segment in log.segments
    ]
    return find_cleanable(segments, facts, log.config, now_ms)


class Compaction:
    """One pass over one log. `place` belongs to the event loop, the rest to any one thread."""

    def __init__(
        self,
        log: Log,
        cleanable: Cleanable,
        config: CleanerConfig,
        *,
        now_ms: int,
        throttle: Throttle | None = None,
    ) -> None:
        self._log = log
        self._segments = [s for s in log.segments if s.base_offset < cleanable.end_offset]
        work = _plan(log, cleanable, self._segments, now_ms)
        self._sources = work.sources
        self.cleaner = Cleaner(
            log.segments.files.disk,
            work,
            config,
            throttle or Throttle(config.io_max_bytes_per_second),
        )
        self._counts: list[int] = []
        self._cleaned: Segment | None = None
        self._bytes_before = self._bytes_after = 0

    @property
    def is_void(self) -> bool:
        """Whether the segments that are left to do are no longer those of the log."""
        segments = self._segments
        return bool(segments) and not (
            self._log.segments.holds(segments)
            and all(
                segment.size_bytes == source.size_bytes
                for segment, source in zip(segments, self._sources, strict=True)
            )
        )

    @property
    def has_more(self) -> bool:
        return bool(self._counts)

    @property
    def result(self) -> Compacted:
        return Compacted(self.cleaner.end_offset, self._bytes_before, self._bytes_after)

    def map_keys(self) -> None:
        self._counts = self.cleaner.map_keys()

    def clean_next(self) -> None:
        """Writes the next group of segments anew, once the space of the previous is free."""
        self._log.segments.delete_retired()
        self._cleaned = self.cleaner.clean(self._sources[: self._counts[0]])

    def place(self) -> bool:
        """Puts what `clean_next` wrote in its place; False if the pass is void."""
        log, cleaned, count = self._log, self._cleaned, self._counts.pop(0)
        assert cleaned is not None
        replaced = self._segments[:count]
        log.check_usable()
        if self.is_void:
            self.discard()
            return False
        try:
            log.segments.replace(replaced, cleaned)
            self._cleaned = None
            for segment in replaced[1:]:
                log.snapshots.remove(segment.base_offset)
        except OSError as error:
            raise log.fail(error) from error
        log.was_compacted()
        self._bytes_before += sum(segment.size_bytes for segment in replaced)
        self._bytes_after += cleaned.size_bytes
        self._segments, self._sources = self._segments[count:], self._sources[count:]
        return True

    def discard(self) -> None:
        """Throws away what was written and not placed."""
        if self._cleaned is not None:
            log = self._log
            discard_cleaned(log.segments.files.disk, log.directory, self._cleaned.base_offset)
            self._cleaned = None

    def finish(self) -> None:
        """Makes the new names durable and gives back the space of the old files."""
        segments = self._log.segments
        segments.files.disk.sync_directory(segments.directory)
        segments.delete_retired()


async def compact(compaction: Compaction, threads: Executor) -> Compacted | None:
    """Takes all steps of a pass; None if it was void.

    Raises `UncleanableError` at damage, and `OSError` where the disk fails or is full. The log is
    as good as before in either case. When cancelled, it waits for the thread to stop.
    """
    try:
        await _run(compaction, compaction.map_keys, threads)
        while compaction.has_more:
            await _run(compaction, compaction.clean_next, threads)
            if not compaction.place():
                return None
        await _run(compaction, compaction.finish, threads)
    except (OSError, StorageError):
        if compaction.is_void:
            return None
        raise
    return compaction.result


async def _run(compaction: Compaction, step: Callable[[], T], threads: Executor) -> T:
    running = asyncio.get_running_loop().run_in_executor(threads, step)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        compaction.cleaner.is_stopped = True
        await asyncio.wait([running])
        compaction.discard()
        raise


def _plan(log: Log, cleanable: Cleanable, segments: list[Segment], now_ms: int) -> Pass:
    ends = [segment.base_offset for segment in log.segments][1 : len(segments) + 1]
    first_dirty = cleanable.first_dirty_offset
    dirty = log.segments[log.segments.floor_index(first_dirty)]
    found = dirty.find_batch(first_dirty) if dirty.base_offset < first_dirty else None
    end_offset = cleanable.end_offset
    aborted = find_aborted_transactions(log, segments[0].base_offset, end_offset)
    return Pass(
        directory=log.directory,
        config=log.config,
        cleanable=cleanable,
        sources=tuple(
            Source(segment.base_offset, end, segment.size_bytes)
            for segment, end in zip(segments, ends, strict=True)
        ),
        dirty_position=found.position if found else 0,
        aborted=tuple(aborted),
        later_bases=tuple(
            segment.base_offset
            for segment in log.segments
            if end_offset <= segment.base_offset < log.high_watermark
        ),
        last_batches={
            entry.producer_id: LastBatch(
                entry.batches[-1].last_offset if entry.batches else None, entry.producer_epoch
            )
            for entry in log.producers.entries
        },
        now_ms=now_ms,
    )


def _first_timestamp(segment: Segment) -> int:
    for _, header in scan_headers(segment.file, 0, segment.size_bytes):
        return header.max_timestamp
    return -1
