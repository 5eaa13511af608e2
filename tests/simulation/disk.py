"""A disk in memory that loses, tears, refuses and flips: what storage is tested against.

A crash keeps what was synced. Of what was not, each file keeps a random prefix of its writes, the
last of them possibly torn and one of them possibly replaced by zeros, as when a file system has
extended the file but not written the data; each directory keeps a random prefix of its changes, in
order, as the metadata journals of Linux file systems do: of renamed directories, too.

Everything random comes from the `random.Random` given, so a seed replays a crash.
"""

import errno
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from snakka.protocol.types import Buffer
from snakka.storage.cold import ColdReadError, may_wait
from snakka.storage.disk import File, FileStatus

_TEAR_CHANCE = 0.5
_ZEROS_CHANCE = 0.2


@dataclass(slots=True)
class Inode:
    """One file: what readers see, what is on the platter, and the changes in between."""

    content: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    writes: list[tuple[int, bytes]] = field(default_factory=list)  # position -1: truncate
    modified_ms: int = 0

    def apply(self, position: int, data: bytes, now_ms: int) -> None:
        self.modified_ms = now_ms
        _apply(self.content, position, data)
        self.writes.append((position, data))

    def sync(self) -> None:
        self.durable = bytes(self.content)
        self.writes.clear()

    def crash(self, rng: random.Random) -> None:
        content = bytearray(self.durable)
        kept = self.writes[: rng.randint(0, len(self.writes))]
        if kept and kept[-1][0] >= 0 and rng.random() < _TEAR_CHANCE:
            position, data = kept[-1]
            kept[-1] = (position, data[: rng.randint(0, len(data))])
        if kept and rng.random() < _ZEROS_CHANCE:
            victim = rng.randrange(len(kept))
            position, data = kept[victim]
            if position >= 0:
                kept[victim] = (position, bytes(len(data)))
        for position, data in kept:
            _apply(content, position, data)
        self.content, self.durable, self.writes = content, bytes(content), []


def _apply(content: bytearray, position: int, data: bytes) -> None:
    if position < 0:
        size = int.from_bytes(data, "big")
        del content[size:]
        content.extend(bytes(size - len(content)))
        return
    content.extend(bytes(max(0, position - len(content))))
    content[position : position + len(data)] = data


@dataclass(slots=True)
class Folder:
    """One directory: its names now, its durable names, and the states in between, in order."""

    names: dict[str, Inode] = field(default_factory=dict)
    states: list[dict[str, Inode]] = field(default_factory=lambda: [{}])

    def changed(self) -> None:
        self.states.append(dict(self.names))

    def sync(self) -> None:
        self.states = [dict(self.names)]

    def crash(self, rng: random.Random) -> None:
        self.names = dict(rng.choice(self.states))
        self.sync()


class SimulatedFile:
    def __init__(self, disk: "SimulatedDisk", inode: Inode) -> None:
        self._disk = disk
        self._inode = inode

    def size(self) -> int:
        return len(self._inode.content)

    def is_in_memory(self, position: int, size_bytes: int) -> bool:
        return self._inode not in self._disk.cold

    def read(self, position: int, size_bytes: int) -> bytes:
        if not self.is_in_memory(position, size_bytes):
            if not may_wait():
                raise ColdReadError(self, position, size_bytes)
            self._disk.waits += 1
            self._disk.cold.remove(self._inode)
        self._disk.check_fault("read")
        return bytes(self._inode.content[position : position + size_bytes])

    def read_into(self, buffer: bytearray | memoryview, position: int) -> int:
        data = self.read(position, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, buffers: Sequence[Buffer], position: int) -> None:
        self._disk.check_fault("write")
        data = b"".join(buffers)
        growth = max(0, position + len(data) - self.size())
        room = self._disk.room_bytes()
        if growth > room:
            self._inode.apply(position, data[: len(data) - growth + room], self._disk.now_ms)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._inode.apply(position, data, self._disk.now_ms)
        self._disk.writes += 1

    def truncate(self, size_bytes: int) -> None:
        self._disk.check_fault("write")
        self._inode.apply(-1, size_bytes.to_bytes(8, "big"), self._disk.now_ms)

    def sync(self) -> None:
        self._disk.check_fault("sync")
        self._inode.sync()
        self._disk.syncs += 1

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "a simulated file has no descriptor")


class PowerCut(BaseException):
    """Raised in the midst of an operation that does not come about: call `crash` next."""


class SimulatedDisk:
    """Implements snakka.storage.disk.Disk. `failing` names the operations that give EIO.

    The power is cut after `steps_left` changes and syncs, where that is given.
    """

    def __init__(self, rng: random.Random, capacity_bytes: int = 1 << 40) -> None:
        self.capacity_bytes = capacity_bytes
        self.failing: set[str] = set()
        self.steps = 0
        self.steps_left: int | None = None
        self.now_ms = 0
        self.writes = 0
        self.syncs = 0
        self.waits = 0  # for bytes that were not in memory
        self.cold: list[Inode] = []
        self._rng = rng
        self._folders: dict[str, Folder] = {"/": Folder()}
        self._renamed: dict[str, list[tuple[str, str]]] = {}  # directories, by their parent

    # What a Disk does.

    def open(self, path: str, *, create: bool = False) -> File:
        folder, name = self._locate(path)
        if name not in folder.names:
            if not create:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            self.check_fault("write")
            folder.names[name] = Inode()
            folder.changed()
        return SimulatedFile(self, folder.names[name])

    def names(self, directory: str) -> list[str]:
        below = directory.rstrip("/") + "/"
        folders = [
            path[len(below) :]
            for path in self._folders
            if path.startswith(below) and path != below and "/" not in path[len(below) :]
        ]
        return [*self._folder(directory).names, *folders]

    def status(self, path: str) -> FileStatus:
        if path in self._folders:
            return FileStatus(0, self.now_ms)
        inode = self._inode(path)
        return FileStatus(len(inode.content), inode.modified_ms)

    def set_modified(self, path: str, modified_ms: int) -> None:
        self._inode(path).modified_ms = modified_ms

    def make_directory(self, path: str) -> None:
        """Made for good at once: losing whole directories is not what is tested here."""
        if path not in self._folders:
            self._step()
            self._folders[path] = Folder()
            self._renamed.pop(os.path.dirname(path), None)

    def rename(self, source: str, target: str) -> None:
        self.check_fault("write")
        if source in self._folders:
            if self._folders.get(target, Folder()).names:
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), target)
            self._folders[target] = self._folders.pop(source)
            self._renamed.setdefault(os.path.dirname(target), []).append((source, target))
            return
        source_folder, source_name = self._locate(source)
        target_folder, target_name = self._locate(target)
        target_folder.names[target_name] = self._inode(source)
        del source_folder.names[source_name]
        source_folder.changed()
        if target_folder is not source_folder:
            target_folder.changed()

    def remove(self, path: str) -> None:
        self._inode(path)
        self._step()
        folder, name = self._locate(path)
        del folder.names[name]
        folder.changed()

    def remove_directory(self, path: str) -> None:
        if self._folder(path).names:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        self._step()
        del self._folders[path]
        self._renamed.pop(os.path.dirname(path), None)

    def sync_directory(self, path: str) -> None:
        self.check_fault("sync")
        self._folder(path).sync()
        self._renamed.pop(path, None)

    # What a test does to it.

    def crash(self) -> None:
        """Power loss. Files opened before it belong to a dead process: use new ones."""
        self.steps_left = None
        for renamed in self._renamed.values():
            for source, target in reversed(renamed[self._rng.randint(0, len(renamed)) :]):
                self._folders[source] = self._folders.pop(target)
        self._renamed.clear()
        inodes = {id(inode): inode for inode in self._inodes()}
        for inode in inodes.values():
            inode.crash(self._rng)
        for folder in self._folders.values():
            folder.crash(self._rng)

    def chill(self, path: str) -> None:
        """Takes a file out of memory, until it is read with patience."""
        self.cold.append(self._inode(path))

    def files(self, directory: str) -> list[Inode]:
        return list(self._folder(directory).names.values())

    def durable_files(self, directory: str, suffix: str) -> list[Inode]:
        """Files that a crash leaves, in the order of their names, with what is durable of them."""
        states = self._folder(directory).states
        found = {name: each for name, each in states[0].items() if name.endswith(suffix)}
        is_safe = [all(each.get(name) is found[name] for each in states) for name in found]
        return [found[name] for name, safe in sorted(zip(found, is_safe, strict=True)) if safe]

    def flip_bit(self, path: str, position: int, bit: int = 0) -> None:
        inode = self._inode(path)
        inode.content[position] ^= 1 << bit
        inode.sync()

    def _step(self) -> None:
        self.steps += 1
        if self.steps_left is not None:
            self.steps_left -= 1
            if self.steps_left < 0:
                raise PowerCut

    def check_fault(self, operation: str) -> None:
        if operation != "read":
            self._step()
        if operation in self.failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def room_bytes(self) -> int:
        # Copies: compaction runs in a thread, and makes files meanwhile.
        inodes = [i for f in list(self._folders.values()) for i in list(f.names.values())]
        used = sum(len(inode.content) for inode in inodes)
        return max(0, self.capacity_bytes - used)

    def _inodes(self) -> list[Inode]:
        return [i for f in self._folders.values() for state in f.states for i in state.values()]

    def _inode(self, path: str) -> Inode:
        folder, name = self._locate(path)
        if name not in folder.names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return folder.names[name]

    def _locate(self, path: str) -> tuple[Folder, str]:
        directory, name = os.path.split(path)
        return self._folder(directory), name

    def _folder(self, directory: str) -> Folder:
        folder = self._folders.get(directory.rstrip("/") or "/")
        if folder is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), directory)
        return folder
