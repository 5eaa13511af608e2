"""Which files are kept open: the most recently used, up to a limit, for all logs of a node.

A node may have far more segments than descriptors. Evicting a file only lets go of it: whoever
still reads from it keeps it open.
"""

from contextlib import suppress
from typing import Final

from snakka.storage.disk import Disk, File

OPEN_FILES_MAX: Final = 512  # half of the usual soft limit of 1024


class OpenFiles:
    """A cache of open files by path. A renamed or removed path has to be forgotten."""

    def __init__(self, disk: Disk, limit: int = OPEN_FILES_MAX) -> None:
        if limit < 1:
            raise ValueError(f"a limit of {limit} open files")
        self.disk = disk
        self._limit = limit
        self._files: dict[str, File] = {}  # least recently used first

    def get(self, path: str, *, create: bool = False) -> File:
        file = self._files.pop(path, None)
        if file is None:
            file = self.disk.open(path, create=create)
            if len(self._files) >= self._limit:
                self._evict()
        self._files[path] = file
        return file

    def _evict(self) -> None:
        # Threads open files, too: whoever comes second finds that the first has evicted enough.
        with suppress(KeyError, RuntimeError, StopIteration):
            del self._files[next(iter(self._files))]

    def forget(self, path: str) -> None:
        self._files.pop(path, None)

    def __len__(self) -> int:
        return len(self._files)
