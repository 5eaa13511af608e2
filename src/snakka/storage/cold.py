"""Reads that would wait for the disk are found out, and done where they stall nobody.

What runs on the event loop reads inside `no_waiting`: bytes that are not in memory raise there, and
`when_warm` has a thread read them and tries again. Linux tells (`RWF_NOWAIT`); where a system or a
file system does not, everything counts as being in memory.

Not here: what is read. Opening, recovery and compaction read where they may wait.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

_T = TypeVar("_T")

_RWF_NOWAIT: Final = getattr(os, "RWF_NOWAIT", None)  # Linux only
_PAGE_BYTES: Final = 4096
_PROBE_EVERY_BYTES: Final = 256 * 1024  # a probe costs almost a microsecond
_PROBE: Final = (bytearray(1),)  # nobody looks at what is read into it
_PIECE_BYTES: Final = 128 * 1024
_ATTEMPTS_MAX: Final = 64  # a lookup reads fewer places than that


class ReadableFile(Protocol):
    def read(self, position: int, size_bytes: int) -> bytes: ...


class ColdReadError(Exception):
    """These bytes have to come from the disk first. No `OSError`: nothing has failed."""

    def __init__(self, file: ReadableFile, position: int, size_bytes: int) -> None:
        super().__init__(f"{size_bytes} bytes at {position} are not in memory")
        self._place = (file, position, size_bytes)

    def wait(self) -> None:
        """Blocks until they are."""
        bring_into_memory(*self._place)


class _Thread(threading.local):
    """Whether reads may wait, of the thread that asks."""

    may_wait = True


_THREAD: Final = _Thread()


class _Section:
    """A stretch of code in which reads may wait for the disk, or may not."""

    __slots__ = ("_before", "_may_wait")

    def __init__(self, *, may_wait: bool) -> None:
        self._may_wait = may_wait

    def __enter__(self) -> None:
        self._before = _THREAD.may_wait
        _THREAD.may_wait = self._may_wait

    def __exit__(self, *_: object) -> None:
        _THREAD.may_wait = self._before


def no_waiting() -> _Section:
    """Inside, a read that would wait raises `ColdReadError`."""
    return _Section(may_wait=False)


def waiting() -> _Section:
    """Inside, reads wait in any case: of what must not end half-way."""
    return _Section(may_wait=True)


def may_wait() -> bool:
    """Whether a read may wait here; a file asks before it does."""
    return _THREAD.may_wait


async def when_warm(attempt: Callable[[], _T]) -> _T:
    """What `attempt` returns; what it reads from the disk is read in a thread before."""
    for _ in range(_ATTEMPTS_MAX):
        try:
            with no_waiting():
                return attempt()
        except ColdReadError as cold:
            await asyncio.get_running_loop().run_in_executor(None, cold.wait)
    return attempt()


def bring_into_memory(file: ReadableFile, position: int, size_bytes: int) -> None:
    """Reads, and drops what was read."""
    end = position + size_bytes
    while position < end and file.read(position, min(_PIECE_BYTES, end - position)):
        position += _PIECE_BYTES


def is_in_memory(descriptor: int, position: int, size_bytes: int) -> bool:
    """Whether reading would not wait, as far as a byte here and there can tell."""
    if _RWF_NOWAIT is None or size_bytes <= 0:
        return True
    end = position + size_bytes
    try:
        for at in range(position, end, _PROBE_EVERY_BYTES):
            os.preadv(descriptor, _PROBE, at, _RWF_NOWAIT)
        if size_bytes > _PAGE_BYTES:
            os.preadv(descriptor, _PROBE, end - 1, _RWF_NOWAIT)
    except BlockingIOError:
        return False
    except OSError:  # a file system that cannot tell; a bad disk is met by the read itself
        return True
    return True


def find_in_memory(descriptor: int, position: int, size_bytes: int) -> bytes | None:
    """A page or less at once, where that does not wait; None says nothing yet."""
    if _RWF_NOWAIT is None or size_bytes > _PAGE_BYTES:
        return None
    buffer = bytearray(size_bytes)
    try:
        count = os.preadv(descriptor, (buffer,), position, _RWF_NOWAIT)
    except OSError:
        return None
    return bytes(buffer) if count == size_bytes else None
