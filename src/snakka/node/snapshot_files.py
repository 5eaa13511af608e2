"""Metadata snapshots on disk: `<offset>-<epoch>.checkpoint` beside the metadata log (KIP-630).

One that is being written has `.part` behind its name, and is dropped at the next start.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from snakka.protocol.internal.kraft import SnapshotHeaderRecord
from snakka.protocol.records.batch import batches
from snakka.protocol.types import Buffer
from snakka.quorum.control_records import first_batch, read_control_records
from snakka.quorum.ports import OffsetAndEpoch
from snakka.storage.disk import Disk
from snakka.storage.errors import CorruptFileError

_SUFFIX: Final = ".checkpoint"
_PART_SUFFIX: Final = ".checkpoint.part"
_HEAD_BYTES: Final = 64 * 1024
_READ_BYTES: Final = 1024 * 1024
_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class SnapshotFiles:
    """The snapshots of one metadata log."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory
        disk.make_directory(directory)
        self._ids: list[OffsetAndEpoch] = []
        for name in disk.names(directory):
            match = _NAME.fullmatch(name)
            if match:
                self._ids.append(OffsetAndEpoch(int(match[1]), int(match[2])))
            elif name.endswith(_PART_SUFFIX):
                disk.remove(f"{directory}/{name}")
        self._ids.sort()

    @property
    def ids(self) -> Sequence[OffsetAndEpoch]:
        """Of all of them, oldest first."""
        return self._ids

    def latest(self) -> OffsetAndEpoch | None:
        return self._ids[-1] if self._ids else None

    def find_size_bytes(self, snapshot_id: OffsetAndEpoch) -> int | None:
        if snapshot_id not in self._ids:
            return None
        return self._disk.status(self._path(snapshot_id)).size_bytes

    def read(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> Buffer:
        return self._disk.open(self._path(snapshot_id)).read(position, max_bytes)

    def write(self, snapshot_id: OffsetAndEpoch, position: int, data: Buffer) -> None:
        file = self._disk.open(self._part_path(snapshot_id), create=True)
        if position == 0:
            file.truncate(0)
        file.write([data], position)

    def complete(self, snapshot_id: OffsetAndEpoch) -> None:
        self._seal(snapshot_id)
        self.add(snapshot_id)

    def write_whole(self, snapshot_id: OffsetAndEpoch, chunks: Iterable[bytes]) -> None:
        """Writes one of this node's own, durably. May run in a thread; `add` makes it known."""
        file = self._disk.open(self._part_path(snapshot_id), create=True)
        file.truncate(0)
        position = 0
        for chunk in chunks:
            file.write([chunk], position)
            position += len(chunk)
        self._seal(snapshot_id)

    def add(self, snapshot_id: OffsetAndEpoch) -> None:
        """Counts one that was written whole."""
        self._ids = sorted({*self._ids, snapshot_id})

    def values(self, snapshot_id: OffsetAndEpoch) -> Iterator[bytes]:
        """The records that are no control records."""
        position, wanted = 0, _READ_BYTES
        while data := self.read(snapshot_id, position, wanted):
            taken = 0
            for batch in batches(data, ignore_partial_tail=True):
                taken += len(batch.data)
                if not batch.header.is_control:
                    yield from (record.value or b"" for record in batch.records())
            if not taken and len(data) < wanted:
                raise CorruptFileError(self._path(snapshot_id), "its last batch is cut short")
            position += taken
            wanted = _READ_BYTES if taken else 2 * wanted

    def last_timestamp_ms(self, snapshot_id: OffsetAndEpoch) -> int:
        """The time of the last record of the log that it covers, as its header has it."""
        head = first_batch(self.read(snapshot_id, 0, _HEAD_BYTES))
        for each in read_control_records(head):
            if isinstance(each.message, SnapshotHeaderRecord):
                return each.message.last_contained_log_timestamp
        raise CorruptFileError(self._path(snapshot_id), "it does not begin with a header")

    def read_facts(self) -> list[tuple[OffsetAndEpoch, int, int]]:
        """All snapshots, oldest first, with size and the time of their last record."""
        return [
            (each, self._disk.status(self._path(each)).size_bytes, self.last_timestamp_ms(each))
            for each in self._ids
        ]

    def remove_before(self, start: OffsetAndEpoch) -> None:
        """Removes those that are older than `start`."""
        removed = [each for each in self._ids if each < start]
        self._ids = [each for each in self._ids if each >= start]
        for each in removed:
            self._disk.remove(self._path(each))

    def _seal(self, snapshot_id: OffsetAndEpoch) -> None:
        self._disk.open(self._part_path(snapshot_id)).sync()
        self._disk.rename(self._part_path(snapshot_id), self._path(snapshot_id))
        self._disk.sync_directory(self._directory)

    def _path(self, snapshot_id: OffsetAndEpoch) -> str:
        return f"{self._directory}/{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{_SUFFIX}"

    def _part_path(self, snapshot_id: OffsetAndEpoch) -> str:
        return self._path(snapshot_id).removesuffix(_SUFFIX) + _PART_SUFFIX
