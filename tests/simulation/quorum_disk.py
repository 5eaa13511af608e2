"""The disk of one quorum replica: its log, its snapshots, its election state.

What was done to the log and not synced is a list; a crash keeps a random prefix of it, as a
recovery that cuts a log at the first torn batch does. Snapshots and the election state are durable
when they are written, as their ports demand.
"""

import random
from dataclasses import dataclass, field
from typing import NamedTuple

from snakka.protocol.records.batch import Batch, batches
from snakka.protocol.types import Buffer
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch


class LogBatch(NamedTuple):
    base_offset: int
    next_offset: int
    epoch: int
    crc: int
    is_control: bool
    data: bytes


def log_batch(batch: Batch) -> LogBatch:
    header = batch.header
    return LogBatch(
        header.base_offset,
        header.next_offset,
        header.leader_epoch,
        header.crc,
        header.is_control,
        bytes(batch.data),
    )


_EMPTY = OffsetAndEpoch(0, 0)


@dataclass(slots=True)
class LogState:
    """A log as a value: where it starts, and its batches."""

    start: OffsetAndEpoch = _EMPTY
    batches: list[LogBatch] = field(default_factory=list)

    @property
    def end(self) -> OffsetAndEpoch:
        if not self.batches:
            return self.start
        return OffsetAndEpoch(self.batches[-1].next_offset, self.batches[-1].epoch)

    def apply(self, change: "Change") -> None:
        if change.append is not None:
            self.batches.append(change.append)
        elif change.truncate is not None:
            while self.batches and self.batches[-1].next_offset > change.truncate:
                self.batches.pop()
        elif change.restart is not None:
            self.start, self.batches = change.restart, []
        elif change.advance is not None and change.advance.offset > self.start.offset:
            kept = [b for b in self.batches if b.base_offset >= change.advance.offset]
            self.start, self.batches = change.advance, kept

    def find(self, base_offset: int) -> LogBatch | None:
        low, high = 0, len(self.batches)
        while low < high:
            middle = (low + high) // 2
            if self.batches[middle].base_offset < base_offset:
                low = middle + 1
            else:
                high = middle
        if low < len(self.batches) and self.batches[low].base_offset == base_offset:
            return self.batches[low]
        return None

    def cut_at(self, offset: int) -> OffsetAndEpoch:
        """That offset, with the epoch of the record before it."""
        epoch = next(batch.epoch for batch in self.batches if batch.next_offset == offset)
        return OffsetAndEpoch(offset, epoch)

    def copy(self) -> "LogState":
        return LogState(self.start, list(self.batches))


class Change(NamedTuple):
    append: LogBatch | None = None
    truncate: int | None = None
    restart: OffsetAndEpoch | None = None
    advance: OffsetAndEpoch | None = None


class SimulatedLog:
    """Implements snakka.quorum.ports.QuorumLog."""

    def __init__(self, snapshots: "SimulatedSnapshots") -> None:
        self.state = LogState()
        self.durable = LogState()
        self.unsynced: list[Change] = []
        self.truncations = 0
        self.restarts = 0
        self.changed_from = 0  # the first offset that differs from when somebody last looked
        self._snapshots = snapshots

    @property
    def start_offset(self) -> int:
        return self.state.start.offset

    @property
    def starts_after(self) -> OffsetAndEpoch:
        return self.state.start

    @property
    def end(self) -> OffsetAndEpoch:
        return self.state.end

    def epoch_end(self, epoch: int) -> OffsetAndEpoch:
        for batch in reversed(self.state.batches):
            if batch.epoch <= epoch:
                return OffsetAndEpoch(batch.next_offset, batch.epoch)
        return self.state.start

    def append(self, data: Buffer) -> None:
        for batch in batches(bytes(data)):
            written = log_batch(batch)
            assert written.base_offset == self.end.offset, "an append leaves a gap"
            self._change(Change(append=written), written.base_offset)

    def truncate(self, end_offset: int) -> None:
        self.truncations += 1
        self._change(Change(truncate=end_offset), end_offset)

    def read(self, offset: int, max_bytes: int) -> bytes:
        assert self.start_offset <= offset < self.end.offset, "read outside of the log"
        index = next(i for i, b in enumerate(self.state.batches) if b.base_offset == offset)
        found = self.state.batches[index].data
        for batch in self.state.batches[index + 1 :]:
            if len(found) + len(batch.data) > max_bytes:
                break
            found += batch.data
        return found

    def restart_after(self, snapshot_id: OffsetAndEpoch) -> None:
        self.restarts += 1
        self._change(Change(restart=snapshot_id), 0)
        self._snapshots.forget_before(snapshot_id)

    def advance_start(self, snapshot_id: OffsetAndEpoch) -> None:
        self._change(Change(advance=snapshot_id), self.end.offset)
        self._snapshots.forget_before(snapshot_id)

    def _change(self, change: Change, offset: int) -> None:
        self.state.apply(change)
        self.unsynced.append(change)
        self.changed_from = min(self.changed_from, offset)

    def sync(self, change_count: int) -> None:
        """Makes the first so many of the unsynced changes durable."""
        for change in self.unsynced[:change_count]:
            self.durable.apply(change)
        del self.unsynced[:change_count]

    def crash(self, rng: random.Random) -> None:
        self.sync(rng.randint(0, len(self.unsynced)))
        self.unsynced.clear()
        self.state = self.durable.copy()
        self.changed_from = 0


class SimulatedSnapshots:
    """Implements snakka.quorum.ports.Snapshots."""

    def __init__(self) -> None:
        self.complete_ones: dict[OffsetAndEpoch, bytes] = {}
        self._partial: dict[OffsetAndEpoch, bytearray] = {}

    def latest(self) -> OffsetAndEpoch | None:
        return max(self.complete_ones, default=None)

    def find_size_bytes(self, snapshot_id: OffsetAndEpoch) -> int | None:
        found = self.complete_ones.get(snapshot_id)
        return None if found is None else len(found)

    def read(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        return self.complete_ones[snapshot_id][position : position + max_bytes]

    def write(self, snapshot_id: OffsetAndEpoch, position: int, data: Buffer) -> None:
        if position == 0:
            self._partial[snapshot_id] = bytearray()
        assert position == len(self._partial[snapshot_id]), "a hole in a snapshot"
        self._partial[snapshot_id] += data

    def complete(self, snapshot_id: OffsetAndEpoch) -> None:
        self.complete_ones[snapshot_id] = bytes(self._partial.pop(snapshot_id))

    def forget_before(self, snapshot_id: OffsetAndEpoch) -> None:
        for each in [each for each in self.complete_ones if each < snapshot_id]:
            del self.complete_ones[each]

    def crash(self) -> None:
        self._partial.clear()


class QuorumDisk:
    def __init__(self) -> None:
        self.snapshots = SimulatedSnapshots()
        self.log = SimulatedLog(self.snapshots)
        self.election = ElectionState()
        self.crashes = 0

    def crash(self, rng: random.Random) -> None:
        self.crashes += 1
        self.log.crash(rng)
        self.snapshots.crash()
