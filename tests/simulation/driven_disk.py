"""The disk of a driven replica: real files of a real log, on a simulated disk.

What the invariants look at is kept beside it: the log as the quorum's port has it, which is what a
simulated log would be after the same changes, and what of it is on the platter.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from snakka.node.election_file import QUORUM_STATE
from snakka.node.metadata_log import METADATA_DIRECTORY, MetadataLog
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import batches, verify_crc
from snakka.protocol.types import Buffer
from snakka.quorum.ports import OffsetAndEpoch
from snakka.storage.config import LogConfig
from snakka.storage.open_files import OpenFiles
from tests.simulation.clock import NodeClock
from tests.simulation.disk import Inode, SimulatedDisk
from tests.simulation.quorum_disk import (
    LogBatch,
    QuorumDisk,
    SimulatedLog,
    SimulatedSnapshots,
    log_batch,
)

DIRECTORY: Final = f"/{METADATA_DIRECTORY}"
ELECTION_PATH: Final = f"{DIRECTORY}/{QUORUM_STATE}"
_CONFIG: Final = LogConfig(segment_bytes=2_000, is_deleted=False)
_READ_BYTES: Final = 1 << 20


class FileSnapshots(SimulatedSnapshots):
    """The snapshots that are files; `complete_ones` follows them."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__()
        self._disk = disk
        self.open()

    def open(self) -> SnapshotFiles:
        """As a process that starts finds them."""
        self.files = SnapshotFiles(self._disk, DIRECTORY)
        self.complete_ones = {}
        self.refresh()
        return self.files

    def write(self, snapshot_id: OffsetAndEpoch, position: int, data: Buffer) -> None:
        self.files.write(snapshot_id, position, data)

    def complete(self, snapshot_id: OffsetAndEpoch) -> None:
        self.files.complete(snapshot_id)
        self.refresh()

    def refresh(self) -> None:
        if set(self.files.ids) != self.complete_ones.keys():
            self.complete_ones = {
                each: bytes(self.files.read(each, 0, _READ_BYTES)) for each in self.files.ids
            }


class MirroredLog(MetadataLog):
    """The log of a node, which once it is open does to its mirror all that is done to it."""

    mirror: SimulatedLog | None = None

    def append(self, batches: Buffer) -> None:
        super().append(batches)
        self._reflect(lambda mirror: mirror.append(batches))

    def truncate(self, end_offset: int) -> None:
        super().truncate(end_offset)
        self._reflect(lambda mirror: mirror.truncate(end_offset))

    def restart_after(self, snapshot_id: OffsetAndEpoch) -> None:
        super().restart_after(snapshot_id)
        self._reflect(lambda mirror: mirror.restart_after(snapshot_id))

    def advance_start(self, snapshot_id: OffsetAndEpoch) -> None:
        super().advance_start(snapshot_id)
        self._reflect(lambda mirror: mirror.advance_start(snapshot_id))

    def _reflect(self, change: Callable[[SimulatedLog], None]) -> None:
        mirror = self.mirror
        if mirror is not None:
            change(mirror)
            assert self.end == mirror.end, f"the log ends at {self.end}, not at {mirror.end}"
            assert self.start_offset == mirror.start_offset


class DrivenDisk(QuorumDisk):
    """`log` and `snapshots` are for those who look; a node works with what `open` gives it."""

    snapshots: FileSnapshots

    def __init__(self, rng: random.Random, clock: NodeClock) -> None:
        super().__init__()
        self._rng = rng
        self._clock = clock
        self.platter = SimulatedDisk(rng)
        self.platter.make_directory(DIRECTORY)
        self.snapshots = FileSnapshots(self.platter)
        self.log = SimulatedLog(SimulatedSnapshots())
        self._parsed: dict[int, tuple[Inode, bytes, list[LogBatch]]] = {}

    def open(self) -> tuple[MirroredLog, SnapshotFiles]:
        """Log and snapshots, as a process that starts opens them."""
        snapshots = self.snapshots.open()
        opened, _ = MirroredLog.open(
            OpenFiles(self.platter),
            DIRECTORY,
            _CONFIG,
            self._rng,
            snapshots=snapshots.ids,
            now_ms=lambda: self._clock.now_ms,
        )
        assert isinstance(opened, MirroredLog)
        opened.mirror = self.log
        state = self.log.state
        state.start = opened.starts_after
        state.batches = list(_batches_of(opened))
        self.log.changed_from = 0
        return opened, snapshots

    def crash(self, rng: random.Random) -> None:
        self.crashes += 1
        self.platter.crash()
        self.snapshots.open()
        self.refresh()

    def refresh(self) -> None:
        """Looks at what is on the platter by now."""
        self.snapshots.refresh()
        found = [batch for inode in self.platter.durable_files(DIRECTORY, ".log")
                 for batch in self._durable_batches(inode)]  # fmt: skip
        self.log.durable.batches = found

    def _durable_batches(self, inode: Inode) -> list[LogBatch]:
        _, data, known = self._parsed.get(id(inode), (inode, b"", []))
        if data == inode.durable:
            return known
        if not inode.durable.startswith(data):
            data, known = b"", []
        end = sum(len(each.data) for each in known)
        known = [*known, *_intact_batches(memoryview(inode.durable)[end:])]
        self._parsed[id(inode)] = (inode, inode.durable, known)
        return known


def _intact_batches(data: memoryview) -> Iterator[LogBatch]:
    """Those before the first one that is cut short or damaged, as recovery finds them."""
    with suppress(MalformedError):
        for batch in batches(data, ignore_partial_tail=True):
            verify_crc(batch.header, batch.data)
            yield log_batch(batch)


def _batches_of(log: MetadataLog) -> Iterator[LogBatch]:
    offset = log.start_offset
    while offset < log.end.offset:
        for batch in batches(log.read(offset, _READ_BYTES)):
            yield log_batch(batch)
            offset = batch.header.next_offset
