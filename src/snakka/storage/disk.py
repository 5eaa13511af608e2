"""The one way to the file system: a port of two small protocols, and the local disk behind it.

All reads and writes name their position, so a file has no state that two readers could disturb. A
file stays open for as long as somebody holds it, and is closed when the last holder lets go: a
response can leave by sendfile from a segment that retention has just unlinked.

Nothing is durable before `File.sync`, and no name before `Disk.sync_directory`. Errors are the
operating system's own (`OSError`).

Not here: which files are kept open (open_files.py), and what is in them.
"""

import os
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from snakka.protocol.types import Buffer
from snakka.storage.cold import ColdReadError, find_in_memory, is_in_memory, may_wait

_BUFFERS_PER_WRITE_MAX: Final = 1024  # IOV_MAX of Linux
_DIRECTORY_MODE: Final = 0o755
_FILE_MODE: Final = 0o644


class FileStatus(NamedTuple):
    size_bytes: int
    modified_ms: int


class File(Protocol):
    """An open file."""

    def size(self) -> int: ...

    def read(self, position: int, size_bytes: int) -> bytes:
        """The bytes from `position` on: fewer than asked for only at the end of the file.

        Raises `ColdReadError` where the read would wait for the disk and may not (cold.py).
        """

    def is_in_memory(self, position: int, size_bytes: int) -> bool:
        """Whether reading, or sending, would not wait for the disk."""

    def read_into(self, buffer: bytearray | memoryview, position: int) -> int: ...

    def write(self, buffers: Sequence[Buffer], position: int) -> None:
        """All buffers in a row from `position` on; a failure may leave any part of them."""

    def truncate(self, size_bytes: int) -> None: ...

    def sync(self) -> None: ...

    def fileno(self) -> int:
        """The descriptor, for sendfile; it is valid while this file is held."""


class Disk(Protocol):
    """Directories and the names in them."""

    def open(self, path: str, *, create: bool = False) -> File: ...

    def names(self, directory: str) -> list[str]: ...

    def status(self, path: str) -> FileStatus: ...

    def set_modified(self, path: str, modified_ms: int) -> None: ...

    def make_directory(self, path: str) -> None: ...

    def rename(self, source: str, target: str) -> None:
        """Atomic; replaces `target` where it exists."""

    def remove(self, path: str) -> None: ...

    def remove_directory(self, path: str) -> None:
        """Of an empty directory."""

    def sync_directory(self, path: str) -> None: ...


class LocalFile:
    """A file of the local file system."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def is_in_memory(self, position: int, size_bytes: int) -> bool:
        return is_in_memory(self._descriptor, position, size_bytes)

    def read(self, position: int, size_bytes: int) -> bytes:
        if not may_wait():
            found = find_in_memory(self._descriptor, position, size_bytes)
            if found is not None:
                return found
            if not self.is_in_memory(position, size_bytes):
                raise ColdReadError(self, position, size_bytes)
        data = os.pread(self._descriptor, size_bytes, position)
        if len(data) == size_bytes or not data:
            return data
        buffer = bytearray(size_bytes)
        return bytes(memoryview(buffer)[: self.read_into(buffer, position)])

    def read_into(self, buffer: bytearray | memoryview, position: int) -> int:
        view = memoryview(buffer)
        filled = 0
        while filled < len(view):
            count = os.preadv(self._descriptor, [view[filled:]], position + filled)
            if not count:
                break
            filled += count
        return filled

    def write(self, buffers: Sequence[Buffer], position: int) -> None:
        if len(buffers) > _BUFFERS_PER_WRITE_MAX:
            for start in range(0, len(buffers), _BUFFERS_PER_WRITE_MAX):
                chunk = buffers[start : start + _BUFFERS_PER_WRITE_MAX]
                self.write(chunk, position)
                position += sum(map(len, chunk))
            return
        written = os.pwritev(self._descriptor, buffers, position)
        size = len(buffers[0]) if len(buffers) == 1 else sum(map(len, buffers))
        if written < size:
            self._write_rest(b"".join(buffers), written, position)

    def _write_rest(self, data: bytes, written: int, position: int) -> None:
        """A full disk writes what fits, and says why it stops only on the next attempt."""
        while written < len(data):
            rest = memoryview(data)[written:]
            written += os.pwrite(self._descriptor, rest, position + written)

    def truncate(self, size_bytes: int) -> None:
        os.ftruncate(self._descriptor, size_bytes)

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor


class LocalDisk:
    """The local file system."""

    def open(self, path: str, *, create: bool = False) -> File:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        try:
            return LocalFile(os.open(path, flags, _FILE_MODE))
        except PermissionError:
            if create:
                raise
            # Kafka makes its snapshots read-only.
            return LocalFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def names(self, directory: str) -> list[str]:
        return os.listdir(directory)

    def status(self, path: str) -> FileStatus:
        status = os.stat(path)
        return FileStatus(status.st_size, status.st_mtime_ns // 1_000_000)

    def set_modified(self, path: str, modified_ms: int) -> None:
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def make_directory(self, path: str) -> None:
        os.makedirs(path, _DIRECTORY_MODE, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def sync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_whole(disk: Disk, path: str) -> bytes:
    file = disk.open(path)
    return file.read(0, file.size())


def replace_file(disk: Disk, path: str, data: bytes) -> None:
    """Puts `data` at `path` so that a crash leaves the old content or the new one, whole."""
    temporary = path + ".tmp"
    file = disk.open(temporary, create=True)
    file.truncate(0)
    file.write([data], 0)
    file.sync()
    disk.rename(temporary, path)
    disk.sync_directory(os.path.dirname(path))
