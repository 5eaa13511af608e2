"""The log of one partition: appending, reading, rolling, flushing.

An append is staged first and written with all others of its loop turn by `write_staged`. Until
then it has its offset and counts for its producer, but no reader sees it: `log_end_offset` is the
end of what is written, and no answer may be sent before.

Invariants: log_start_offset <= high_watermark <= log_end_offset, and recovery_point is durable.
A write that fails leaves file and memory apart; the log then refuses everything until reopened.

Not here: opening and recovery (opening.py), truncation (truncation.py), what to delete and when
(retention.py), lookups by time and of transactions (lookup.py), when to flush.
"""

import random
from collections.abc import Callable

from snakka.protocol.records.batch import (
    CONTROL_BIT,
    NO_PRODUCER_ID,
    BatchHeader,
    TimestampType,
    assign_offset,
    set_max_timestamp,
)
from snakka.protocol.records.control import EndTxnMarker
from snakka.protocol.types import Buffer
from snakka.storage.config import LogConfig
from snakka.storage.errors import (
    LogFailedError,
    OffsetOutOfRangeError,
)
from snakka.storage.flush import Flushing, Unflushed
from snakka.storage.log_state import Appended, LogState
from snakka.storage.read import LogRead, ReadBounds, read_runs
from snakka.storage.scan import find_marker
from snakka.storage.segment_writer import SegmentWriter
from snakka.storage.transaction_index import AbortedTransaction
from snakka.storage.validate import (
    AppendOrigin,
    admit_marker,
    check_segment_size,
    find_duplicate,
    read_follower_batches,
    read_leader_batch,
)


class Log:
    """One partition's records on disk, and what is known about them."""

    __slots__ = (
        "_bounds",
        "_flushing",
        "_has_failed",
        "_next_offset",
        "_rng",
        "_writer",
        "config",
        "epochs",
        "high_watermark",
        "log_end_offset",
        "log_start_offset",
        "on_failure",
        "producers",
        "segments",
        "snapshots",
    )

    def __init__(self, state: LogState, config: LogConfig, rng: random.Random) -> None:
        self.config = config
        self.segments = state.segments
        self.epochs = state.epochs
        self.snapshots = state.snapshots
        self.producers = state.producers
        self.log_start_offset = state.log_start_offset
        self.log_end_offset = state.log_end_offset
        self.high_watermark = state.log_start_offset
        self._flushing = Flushing(state.recovery_point)
        self._rng = rng
        self._next_offset = state.log_end_offset
        self._writer: SegmentWriter | None = None
        self._bounds = ReadBounds()
        self._has_failed = False
        self.on_failure: Callable[[OSError], None] = _ignore

    @property
    def directory(self) -> str:
        return self.segments.directory

    @property
    def recovery_point(self) -> int:
        """Everything before it is durable, indexes included."""
        return self._flushing.recovery_point

    @property
    def durable_offset(self) -> int:
        """The records before it survive a power loss."""
        return self._flushing.durable_offset

    @property
    def last_stable_offset(self) -> int:
        """The end of what read_committed consumers may see."""
        unstable = self.producers.first_unstable_offset
        if unstable is None:
            return self.high_watermark
        return min(self.high_watermark, max(unstable, self.log_start_offset))

    def append_as_leader(
        self,
        buffer: bytearray | memoryview,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transaction_version: int = 0,
    ) -> Appended:
        """Stages one batch at the next offset, which is written into the buffer itself."""
        self.check_usable()
        config, offset = self.config, self._next_offset
        header = read_leader_batch(buffer, config, origin)
        marker = None
        if header.attributes & CONTROL_BIT:
            marker = admit_marker(header, buffer, self.producers, transaction_version)
        elif header.producer_id != NO_PRODUCER_ID:
            duplicate = find_duplicate(header, self.producers, origin)
            if duplicate is not None:
                return Appended.again(duplicate)
        log_append_time = None
        if config.message_timestamp_type is TimestampType.LOG_APPEND_TIME:
            log_append_time = now_ms
            set_max_timestamp(buffer, TimestampType.LOG_APPEND_TIME, now_ms)
            header = BatchHeader.read(buffer)
        assign_offset(buffer, offset, leader_epoch)
        self._stage(header.placed(offset, leader_epoch), buffer, marker, now_ms)
        return Appended(offset, self._next_offset - 1, log_append_time)

    def append_as_follower(self, buffer: Buffer, *, now_ms: int) -> Appended | None:
        """Stages batches as a leader has them; None where there was not a whole one."""
        self.check_usable()
        batches = read_follower_batches(buffer, self._next_offset)
        for batch in batches:
            check_segment_size(batch.header.size_bytes, self.config)
        markers = [find_marker(batch) for batch in batches]
        for batch, marker in zip(batches, markers, strict=True):
            self._stage(batch.header, batch.data, marker, now_ms)
        if not batches:
            return None
        return Appended(batches[0].header.base_offset, batches[-1].header.last_offset)

    def write_staged(self) -> None:
        """Writes what is staged, in one system call, and shows it to readers."""
        if self._writer is None or self._next_offset == self.log_end_offset:
            return
        self.check_usable()
        try:
            self._writer.write()
        except OSError as error:
            raise self.fail(error) from error
        self.log_end_offset = self._next_offset

    def read(
        self, offset: int, *, max_bytes: int, max_offset: int, min_one_batch: bool = True
    ) -> LogRead:
        """From the batch that holds `offset` on, up to `max_offset`, which the reader may not see.

        A reader sees the whole batch that `offset` lies in, and records below it have to be passed
        over there.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise OffsetOutOfRangeError(offset, self.log_start_offset, self.log_end_offset)
        if offset >= max_offset:
            return LogRead()
        try:
            bound = self._bounds.find(self.segments, max_offset, self.log_end_offset)
            return read_runs(self.segments, offset, bound, max_bytes, min_one_batch=min_one_batch)
        except OSError as error:
            raise self.fail(error) from error

    def update_high_watermark(self, offset: int) -> None:
        self.high_watermark = min(max(offset, self.log_start_offset), self.log_end_offset)
        self.producers.on_high_watermark(self.high_watermark)

    def roll(self, *, now_ms: int, base_offset: int | None = None) -> None:
        """Seals the active segment and begins another, unless it is empty and serves as well."""
        self.write_staged()
        base_offset = self._next_offset if base_offset is None else base_offset
        if base_offset == self.segments.active.base_offset:
            return
        try:
            self._get_writer(now_ms)
            self._close_writer()
            self.producers.end_offset = base_offset
            self.snapshots.write(self.producers)
            self.segments.create(base_offset)
            self._flushing.was_rolled()
        except OSError as error:
            raise self.fail(error) from error

    def skip_to(self, offset: int, *, now_ms: int) -> None:
        """Goes on at `offset`, as a copy of a log whose records before it have been compacted."""
        self.roll(now_ms=now_ms, base_offset=offset)
        self._next_offset = self.log_end_offset = offset

    def begin_flush(self) -> Unflushed | None:
        """What to sync, where blocking hurts nobody, before `end_flush`; None if all is durable."""
        self.write_staged()
        try:
            if self._writer is not None:
                self._writer.write_indexes()
            return self._flushing.begin(self.segments, self.snapshots, self.epochs, self.producers)
        except OSError as error:
            raise self.fail(error) from error

    def begin_flush_of_records(self) -> Unflushed | None:
        """As `begin_flush`, but of what an acknowledgement waits for only: it is much cheaper."""
        self.write_staged()
        return self._flushing.begin_records(self.segments, self.log_end_offset)

    def end_flush(self, unflushed: Unflushed) -> None:
        self._flushing.end(unflushed)

    def flush(self) -> None:
        unflushed = self.begin_flush()
        if unflushed is None:
            return
        try:
            unflushed.sync(self.segments.files.disk)
        except OSError as error:
            raise self.fail(error) from error
        self.end_flush(unflushed)

    def release_writer(self) -> None:
        """Completes the files, as a clean shutdown leaves them, and gives back the memory."""
        self.write_staged()
        self.check_usable()
        try:
            self._close_writer()
        except OSError as error:
            raise self.fail(error) from error

    def shut_down(self) -> None:
        """Leaves everything durable and complete, so that the next opening needs no recovery."""
        self.release_writer()
        self.snapshots.write(self.producers)
        self.flush()

    def advance_log_start(self, offset: int) -> bool:
        """Hides the records before `offset` for good, once it has been checkpointed."""
        if offset > self.high_watermark:
            raise OffsetOutOfRangeError(offset, self.log_start_offset, self.high_watermark)
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.epochs.truncate_from_start(offset)
        return True

    def fail(self, error: OSError) -> LogFailedError:
        """Ends the use of this log: what is in memory is no longer what is on disk."""
        self._has_failed = True
        self.on_failure(error)
        return LogFailedError(f"{self.directory}: {error}")

    def check_usable(self) -> None:
        if self._has_failed:
            raise LogFailedError(f"{self.directory}: an earlier write has failed")

    def was_renamed(self, directory: str) -> None:
        """Goes on in the same directory under another name. The writer has been released."""
        self.segments.was_renamed(directory)
        self.snapshots.was_renamed(directory)

    def was_let_go(self) -> None:
        """Its files are about to be taken away: what fails of it from now on concerns nobody."""
        self.on_failure = _ignore

    def forget_files(self) -> None:
        """Nobody needs the files any more, and another log may take their names."""
        self.segments.forget_files()

    def was_truncated(self, end_offset: int) -> None:
        """Continues at `end_offset`, where a truncation has cut files, epochs and producers."""
        self._writer = None
        self._bounds.forget()
        self._next_offset = self.log_end_offset = end_offset
        self._flushing.was_truncated(self.segments.active.base_offset, end_offset)
        self.update_high_watermark(self.high_watermark)

    def was_compacted(self) -> None:
        """Forgets where batches were, after sealed segments have been replaced."""
        self._bounds.forget()

    def _close_writer(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        self._flushing.was_completed(self.segments.active.base_offset)

    def _stage(
        self, header: BatchHeader, batch: Buffer, marker: EndTxnMarker | None, now_ms: int
    ) -> None:
        writer = self._writer or self._get_writer(now_ms)
        if writer.should_roll(header, now_ms):
            self.roll(now_ms=now_ms, base_offset=header.base_offset)
            writer = self._get_writer(now_ms)
        writer.stage(header, batch)
        if header.leader_epoch >= 0 and header.leader_epoch != self.epochs.latest_epoch:
            self.epochs.assign(header.leader_epoch, header.base_offset)
        self._next_offset = header.next_offset
        if header.producer_id == NO_PRODUCER_ID:
            self.producers.end_offset = self._next_offset
            return
        completed = self.producers.replay(header, marker)
        if completed is not None and completed.is_aborted:
            writer.stage_aborted(AbortedTransaction.of(completed))

    def _get_writer(self, now_ms: int) -> SegmentWriter:
        writer = self._writer
        if writer is None:
            jitter_ms = self.config.segment_jitter_ms and self._rng.randrange(
                self.config.segment_jitter_ms
            )
            writer = self._writer = SegmentWriter(
                self.segments.active, self.config, roll_jitter_ms=jitter_ms, now_ms=now_ms
            )
        return writer


def _ignore(error: OSError) -> None:
    """Nobody wants to know."""
