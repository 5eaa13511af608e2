"""The producer snapshot files of one log: one at each segment's base, one at a clean shutdown.

A snapshot is not synced when it is written; a flush does that before it moves the recovery point.
A torn one fails its CRC, and an older one takes its place.
"""

from bisect import bisect_right, insort

from snakka.storage.disk import File, read_whole
from snakka.storage.errors import CorruptFileError
from snakka.storage.names import SNAPSHOT_SUFFIX, offset_file_name
from snakka.storage.open_files import OpenFiles
from snakka.storage.producer_snapshot import decode_snapshot, encode_snapshot
from snakka.storage.producer_state import ProducerState


class Snapshots:
    """The offsets that have a snapshot, in rising order, and their files."""

    __slots__ = ("_directory", "_files", "_interim", "offsets")

    def __init__(self, files: OpenFiles, directory: str, offsets: list[int]) -> None:
        self._files = files
        self._directory = directory
        self._interim: int | None = None
        self.offsets = sorted(offsets)

    def was_renamed(self, directory: str) -> None:
        self._directory = directory

    def path(self, offset: int) -> str:
        return f"{self._directory}/{offset_file_name(offset, SNAPSHOT_SUFFIX)}"

    def open(self, offset: int) -> File:
        return self._files.disk.open(self.path(offset))

    def write(self, producers: ProducerState) -> None:
        """Writes a snapshot at the producers' end offset, unless there is one."""
        offset = producers.end_offset
        if offset in self.offsets:
            return
        file = self._files.disk.open(self.path(offset), create=True)
        file.truncate(0)
        file.write([encode_snapshot(producers.entries)], 0)
        insort(self.offsets, offset)

    def write_interim(self, producers: ProducerState) -> None:
        """Writes a snapshot in the midst of a segment, in place of the previous one."""
        if self._interim is not None:
            self.remove(self._interim)
        self.write(producers)
        self._interim = producers.end_offset

    def load_latest(self, end_offset: int) -> ProducerState | None:
        """The state at the last usable snapshot up to `end_offset`. Damaged ones are removed."""
        for offset in reversed(self.offsets[: bisect_right(self.offsets, end_offset)]):
            path = self.path(offset)
            try:
                return ProducerState(
                    decode_snapshot(read_whole(self._files.disk, path), path), offset
                )
            except CorruptFileError:
                self.remove(offset)
        return None

    def remove(self, offset: int) -> None:
        if offset in self.offsets:
            self.offsets.remove(offset)
            self._files.disk.remove(self.path(offset))

    def remove_after(self, offset: int) -> None:
        for later in self.offsets[bisect_right(self.offsets, offset) :]:
            self.remove(later)
