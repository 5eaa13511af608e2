"""Metadata snapshots on disk: `<offset>-<epoch>.checkpoint` beside the metadata log (KIP-630).

One that is being written has `.part` behind its name, and is dropped at the next start.
"""

import re
from typing import Final

from snakka.protocol.types import Buffer
from snakka.quorum.ports import OffsetAndEpoch
from snakka.storage.disk import Disk

_SUFFIX: Final = ".checkpoint"
_PART_SUFFIX: Final = ".checkpoint.part"
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

    def earliest(self) -> OffsetAndEpoch | None:
        return self._ids[0] if self._ids else None

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
        self._disk.open(self._part_path(snapshot_id)).sync()
        self._disk.rename(self._part_path(snapshot_id), self._path(snapshot_id))
        self._disk.sync_directory(self._directory)
        self._ids = sorted({*self._ids, snapshot_id})

    def _path(self, snapshot_id: OffsetAndEpoch) -> str:
        return f"{self._directory}/{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{_SUFFIX}"

    def _part_path(self, snapshot_id: OffsetAndEpoch) -> str:
        return self._path(snapshot_id).removesuffix(_SUFFIX) + _PART_SUFFIX
