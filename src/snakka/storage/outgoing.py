"""Directories of logs on their way out of a log directory.

Renaming takes a log out at once; removing gigabytes takes its time, and readers may still hold the
files, so what is deleted waits for `file.delete.delay.ms`. What is stray is never removed: its
bytes stay until an operator looks at them.
"""

import random

from snakka.storage.disk import Disk
from snakka.storage.log import Log
from snakka.storage.names import (
    DirectoryKind,
    TopicPartition,
    moving_directory_name,
    random_unique_id,
)


class Outgoing:
    """What waits to be removed from one log directory. Blocks."""

    def __init__(self, disk: Disk, path: str, rng: random.Random) -> None:
        self._disk = disk
        self._path = path
        self._rng = rng
        self._deleted_at_ms: dict[str, int] = {}  # by name

    def take(
        self, log: Log, partition: TopicPartition, kind: DirectoryKind, *, now_ms: int
    ) -> None:
        """Renames the directory of `log`, which nobody appends to any more."""
        log.release_writer()
        log.was_let_go()
        name = moving_directory_name(partition, kind, random_unique_id(self._rng))
        self._disk.rename(log.directory, f"{self._path}/{name}")
        log.forget_files()
        self._disk.sync_directory(self._path)
        if kind is DirectoryKind.DELETE:
            self.add(name, now_ms=now_ms)

    def add(self, name: str, *, now_ms: int) -> None:
        """A directory that has been deleted, by an earlier process perhaps."""
        self._deleted_at_ms[name] = now_ms

    def sweep(self, delay_ms: int, *, now_ms: int) -> None:
        for name, at_ms in list(self._deleted_at_ms.items()):
            if at_ms + delay_ms <= now_ms:
                path = f"{self._path}/{name}"
                for each in self._disk.names(path):
                    self._disk.remove(f"{path}/{each}")
                self._disk.remove_directory(path)
                del self._deleted_at_ms[name]
