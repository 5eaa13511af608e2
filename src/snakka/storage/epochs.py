"""Leader epochs of a log: where each began (KIP-101, KIP-279). Pure.

Invariant: epochs and start offsets both rise strictly. An entry for a lower epoch or an earlier
offset than the last one replaces whatever it contradicts.

Not here: the checkpoint file (checkpoints.py). It may lag behind: whatever lies past the recovery
point is learnt again from the batches, and what lies outside of the log is cut off on opening.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import Final, NamedTuple

_EPOCH: Final = attrgetter("epoch")
_START_OFFSET: Final = attrgetter("start_offset")


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


class EpochEndOffset(NamedTuple):
    """An epoch of this log, and the offset after its last record."""

    epoch: int
    end_offset: int


class LeaderEpochs:
    """The epochs that this log has records of, and the one that is being written."""

    __slots__ = ("_entries", "is_dirty")

    def __init__(self, entries: Iterable[EpochEntry] = ()) -> None:
        self._entries: list[EpochEntry] = []
        self.is_dirty = False  # whether the checkpoint file says something else
        for entry in entries:
            self.assign(entry.epoch, entry.start_offset)
        self.is_dirty = False

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        return tuple(self._entries)

    @property
    def latest_epoch(self) -> int | None:
        return self._entries[-1].epoch if self._entries else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """Epoch `epoch` begins at `start_offset`, unless it is known to have begun before."""
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"epoch {epoch} at offset {start_offset}")
        entries = self._entries
        if entries and entries[-1].epoch == epoch and start_offset >= entries[-1].start_offset:
            return
        while entries and (entries[-1].epoch >= epoch or entries[-1].start_offset >= start_offset):
            entries.pop()
        entries.append(EpochEntry(epoch, start_offset))
        self.is_dirty = True

    def truncate_from_end(self, end_offset: int) -> None:
        """Drops the epochs that begin at `end_offset` or later."""
        kept = bisect_left(self._entries, end_offset, key=_START_OFFSET)
        if kept < len(self._entries):
            del self._entries[kept:]
            self.is_dirty = True

    def truncate_from_start(self, start_offset: int) -> None:
        """Drops what is before `start_offset`; the epoch it falls in now begins there."""
        covering = bisect_right(self._entries, start_offset, key=_START_OFFSET) - 1
        if covering < 0 or (self._entries[covering].start_offset == start_offset and not covering):
            return
        self._entries[: covering + 1] = [EpochEntry(self._entries[covering].epoch, start_offset)]
        self.is_dirty = True

    def clear(self) -> None:
        self.is_dirty = self.is_dirty or bool(self._entries)
        self._entries.clear()

    def find_end_offset(self, epoch: int, log_end_offset: int) -> EpochEndOffset | None:
        """The largest epoch of this log that is not above `epoch`, and where it ends.

        None where `epoch` is unknown because it is newer than all. An epoch older than all ends
        where the first known one begins.
        """
        if epoch == self.latest_epoch:
            return EpochEndOffset(epoch, log_end_offset)
        higher = bisect_right(self._entries, epoch, key=_EPOCH)
        if epoch < 0 or higher == len(self._entries):
            return None
        found = self._entries[higher - 1].epoch if higher else epoch
        return EpochEndOffset(found, self._entries[higher].start_offset)

    def find_epoch(self, offset: int) -> int | None:
        """The epoch that `offset` was written in."""
        index = bisect_right(self._entries, offset, key=_START_OFFSET)
        return self._entries[index - 1].epoch if index else None
