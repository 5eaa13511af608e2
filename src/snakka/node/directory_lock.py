"""The `.lock` file of a log directory, which keeps two nodes out of it, as it does Kafka's."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LOCK_FILE: Final = ".lock"

# The kernel's lock keeps other processes out, but not another node of this one.
_held: dict[str, object] = {}


class DirectoryInUseError(Exception):
    """Another node has the directory."""


@contextmanager
def locked(directory: str) -> Iterator[None]:
    """Holds the directory, which has to be there; the kernel lets go of it with the process."""
    path, holder = os.path.realpath(directory), object()
    if _held.setdefault(path, holder) is not holder:
        raise DirectoryInUseError(f"{directory} is in use by another node of this process")
    try:
        with _locked_file(directory):
            yield
    finally:
        del _held[path]


@contextmanager
def _locked_file(directory: str) -> Iterator[None]:
    descriptor = os.open(f"{directory}/{LOCK_FILE}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _lock(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, directory: str) -> None:
    try:
        # Java's FileLock is of this kind: it keeps a Kafka broker out, too.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise DirectoryInUseError(f"{directory} is in use by another process") from None
