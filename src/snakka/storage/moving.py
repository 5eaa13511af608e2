"""Moving a partition's log to another directory of the same broker (KIP-113), step by step.

A `-future` log in the target directory is copied to until it has all that the current log has.
Then, in one turn of whoever appends, it takes the partition's own name and is appended to instead
(`swap`); the log that it replaces keeps its name until the new one is as durable (`finish`).

Invariants, on which a restart relies (residence.py): a future log is a copy, so it has no records
that the current one never had; and of two logs that a crash has left, the one with the later leader
epoch, or else the longer one, has everything that was acknowledged.

Not here: when to take which step, and asking the controller (node/moves.py).
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.protocol.types import Uuid
from snakka.storage.disk import read_whole
from snakka.storage.epochs import EpochEndOffset
from snakka.storage.log import Log
from snakka.storage.log_directory import FutureStart, LogDirectory
from snakka.storage.names import TopicPartition
from snakka.storage.read import LogRead, ReadBounds, read_runs
from snakka.storage.truncation import find_truncation

CHUNK_BYTES: Final = 256 * 1024


class Chunk(NamedTuple):
    """A piece of the current log, and where that ended by then."""

    read: LogRead
    end_offset: int

    @property
    def size_bytes(self) -> int:
        return self.read.size_bytes


def begin_move(
    source: LogDirectory,
    target: LogDirectory,
    partition: TopicPartition,
    topic_id: Uuid,
    *,
    now_ms: int,
) -> "Move":
    """Makes the future log, empty, beginning where the current one does. Blocks."""
    current = source.logs[partition]
    base_offset = current.segments[0].base_offset
    snapshot = None
    if base_offset in current.snapshots.offsets:
        snapshot = read_whole(current.segments.files.disk, current.snapshots.path(base_offset))
    start = FutureStart(base_offset, snapshot, source.cleaned_offsets.get(partition))
    target.create_future(partition, topic_id, current.config, start, now_ms=now_ms)
    return Move(partition, source, target)


@dataclass(slots=True)
class Move:
    """One partition on its way. The future log is the mover's alone until the swap."""

    partition: TopicPartition
    source: LogDirectory
    target: LogDirectory

    @property
    def current(self) -> Log:
        return self.source.logs[self.partition]

    @property
    def future(self) -> Log:
        return self.target.futures[self.partition]

    @property
    def lag_bytes(self) -> int:
        """About how much is still to be copied: the current log may be compacted differently."""
        if self.has_caught_up:
            return 0
        later = self.current.segments.from_offset(self.future.log_end_offset)
        written = sum(segment.size_bytes for segment in later)
        active = self.future.segments.active
        is_same = active.base_offset == later[0].base_offset
        return max(written - (active.size_bytes if is_same else 0), 1)

    @property
    def has_caught_up(self) -> bool:
        return (
            self.future.log_end_offset == self.current.log_end_offset and not self.must_begin_anew
        )

    @property
    def must_begin_anew(self) -> bool:
        """The current log has lost what would come next: to retention, or to its leader."""
        return self.future.log_end_offset < self.current.segments[0].base_offset

    def find_cut(self) -> int | None:
        """Where the future log parts from the current one, which has been cut meanwhile."""
        current, future = self.current, self.future
        epoch, known = future.epochs.latest_epoch, None
        if epoch is not None:
            known = current.epochs.find_end_offset(epoch, current.log_end_offset)
        if known is None:  # nothing of the epoch is left, or nothing has one
            latest = current.epochs.latest_epoch
            known = EpochEndOffset(-1 if latest is None else latest, current.log_end_offset)
        cut = min(find_truncation(future, known.epoch, known).offset, current.log_end_offset)
        return cut if cut < future.log_end_offset else None

    def cut(self, offset: int) -> None:
        """Blocks. What is left may part from the current log earlier still: look again."""
        self.target.truncate_future_to(self.partition, offset)

    def read(self, max_bytes: int = CHUNK_BYTES) -> Chunk:
        """What comes next, from the log that is being appended to: a short look at its index."""
        current = self.current
        end_offset = current.log_end_offset
        bound = ReadBounds().find(current.segments, end_offset, end_offset)
        offset = self.future.log_end_offset
        read = read_runs(current.segments, offset, bound, max_bytes, min_one_batch=True)
        return Chunk(read, end_offset)

    def append(self, chunk: Chunk, *, now_ms: int) -> None:
        """Copies a chunk. Blocks; CRCs are checked, so that damage does not spread."""
        if not chunk.read.runs:  # compaction has removed the last records there were
            self.future.skip_to(chunk.end_offset, now_ms=now_ms)
            return
        self.future.append_as_follower(chunk.read.copy(), now_ms=now_ms)
        self.future.write_staged()

    def swap(self) -> Log:
        """Makes the future log the partition's; returns the one that it replaces.

        Does not block but for one rename. Nobody may append to the current log in between.
        """
        assert self.has_caught_up
        current = self.current
        current.release_writer()
        future = self.target.promote(self.partition)
        future.producers = current.producers
        future.config = current.config
        future.log_start_offset = current.log_start_offset
        future.epochs.truncate_from_start(current.log_start_offset)
        future.update_high_watermark(current.high_watermark)
        del self.source.logs[self.partition]
        if (cleaned := self.source.cleaned_offsets.pop(self.partition, None)) is not None:
            self.target.cleaned_offsets[self.partition] = cleaned
        return current

    def finish(self, replaced: Log, *, now_ms: int) -> None:
        """Makes the swap durable, and lets go of the log that was replaced. Blocks.

        The new log has been flushed: what was durable in the old one has to be so there.
        """
        self.target.checkpoint()  # and with it the new name
        self.target.write_cleaned_offsets()
        self.source.remove_replaced(self.partition, replaced, now_ms=now_ms)
