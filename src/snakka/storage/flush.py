"""What has to reach the platter before records count as durable, and before recovery skips them.

Records below `durable_offset` survive a power loss. Recovery relies on the indexes below the
recovery point as well, so a whole flush syncs them with the records; a sealed segment's once more,
since sealing completes them.

Not here: when to flush; many logs at once (group_commit.py).
"""

from typing import Final, NamedTuple

from snakka.storage.checkpoints import write_epochs
from snakka.storage.disk import Disk, File
from snakka.storage.epochs import EpochEntry, LeaderEpochs
from snakka.storage.names import LEADER_EPOCH_CHECKPOINT
from snakka.storage.producer_state import ProducerState
from snakka.storage.segments import Segments
from snakka.storage.snapshots import Snapshots

_SNAPSHOT_INTERVAL_BYTES: Final = 64 * 1024 * 1024  # bounds what recovery reads for producers


class Unflushed(NamedTuple):
    """Everything that makes the log durable up to `end_offset`."""

    files: tuple[File, ...]
    directory: str
    end_offset: int
    truncations: int = 0  # the log's count; another one then voids this
    epochs: tuple[EpochEntry, ...] | None = None  # None where the checkpoint is up to date
    has_new_names: bool = True  # or the directory needs no sync
    is_whole: bool = True  # or of records only

    def sync(self, disk: Disk) -> None:
        """Blocks; may run in a thread. After a failure nobody knows what is durable."""
        for file in self.files:
            file.sync()
        if self.epochs is not None:
            write_epochs(disk, f"{self.directory}/{LEADER_EPOCH_CHECKPOINT}", self.epochs)
        elif self.has_new_names:
            disk.sync_directory(self.directory)


class Flushing:
    """How far a log is durable, and what has changed beside its records since."""

    __slots__ = (
        "_completed_from",
        "_has_new_names",
        "_snapshot_position",
        "_truncations",
        "durable_offset",
        "recovery_point",
    )

    def __init__(self, recovery_point: int) -> None:
        self.recovery_point = recovery_point
        self.durable_offset = recovery_point
        self._has_new_names = True  # files whose names may not be durable
        self._completed_from: int | None = None  # the first segment with completed indexes
        self._snapshot_position = 0  # in the active segment: where the last one was taken
        self._truncations = 0

    def begin(
        self,
        segments: Segments,
        snapshots: Snapshots,
        epochs: LeaderEpochs,
        producers: ProducerState,
    ) -> Unflushed | None:
        """What to sync for all that is written; None if all of it is durable."""
        from_offset = self.recovery_point
        if self._completed_from is not None:
            from_offset = min(from_offset, self._completed_from)
        elif from_offset >= producers.end_offset and not epochs.is_dirty:
            return None
        position = segments.active.size_bytes
        if position - self._snapshot_position >= _SNAPSHOT_INTERVAL_BYTES:
            snapshots.write_interim(producers)
            self._snapshot_position = position
        entries = epochs.entries if epochs.is_dirty else None
        epochs.is_dirty = False
        self._completed_from = None
        files = tuple(unflushed_files(segments, snapshots, from_offset))
        return Unflushed(
            files, segments.directory, producers.end_offset, self._truncations, entries
        )

    def begin_records(self, segments: Segments, end_offset: int) -> Unflushed | None:
        """What to sync for the records alone; None if they are durable."""
        if self.durable_offset >= end_offset:
            return None
        has_new_names, self._has_new_names = self._has_new_names, False
        return Unflushed(
            tuple(segment.file for segment in segments.from_offset(self.durable_offset)),
            segments.directory,
            end_offset,
            self._truncations,
            has_new_names=has_new_names,
            is_whole=False,
        )

    def end(self, unflushed: Unflushed) -> None:
        """Moves on, unless the log was cut in the meantime."""
        if unflushed.truncations != self._truncations:
            return
        self.durable_offset = max(self.durable_offset, unflushed.end_offset)
        if unflushed.is_whole:
            self.recovery_point = max(self.recovery_point, unflushed.end_offset)

    def was_completed(self, base_offset: int) -> None:
        """The indexes of the segment at `base_offset` got their last entries."""
        if self._completed_from is None:
            self._completed_from = base_offset

    def was_rolled(self) -> None:
        self._has_new_names = True
        self._snapshot_position = 0

    def was_truncated(self, base_offset: int, end_offset: int) -> None:
        """The log now ends at `end_offset`, in the segment at `base_offset`."""
        self._completed_from = base_offset
        self._has_new_names = True
        self._snapshot_position = 0
        self._truncations += 1
        self.durable_offset = min(self.durable_offset, end_offset)
        self.recovery_point = min(self.recovery_point, end_offset)


def unflushed_files(segments: Segments, snapshots: Snapshots, from_offset: int) -> list[File]:
    """The files with records from `from_offset` on, and what belongs to them."""
    files = segments.files
    unflushed = segments.from_offset(from_offset)
    first_offset = unflushed[0].base_offset
    return [files.get(path) for segment in unflushed for path in segment.paths] + [
        snapshots.open(offset) for offset in snapshots.offsets if offset >= first_offset
    ]
