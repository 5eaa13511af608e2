"""Responses that wait for the high watermark, in the order of the log. Pure.

An answer that left earlier could be of a record that a failover loses.
"""

from collections import deque
from typing import Generic, NamedTuple, TypeVar

W = TypeVar("W")


class _Parked(NamedTuple, Generic[W]):
    offset: int
    deadline_ms: int
    waiting: W


class Parked(Generic[W]):
    """Who waits for which offset, and until when."""

    def __init__(self) -> None:
        self._queue: deque[_Parked[W]] = deque()

    def add(self, offset: int, deadline_ms: int, waiting: W) -> None:
        """Offsets and deadlines never go back."""
        self._queue.append(_Parked(offset, deadline_ms, waiting))

    def release(self, committed_offset: int) -> list[W]:
        """Those whose offset is committed."""
        released = []
        while self._queue and self._queue[0].offset <= committed_offset:
            released.append(self._queue.popleft().waiting)
        return released

    def expire(self, now_ms: int) -> list[W]:
        """Those that have waited for too long."""
        expired = []
        while self._queue and self._queue[0].deadline_ms <= now_ms:
            expired.append(self._queue.popleft().waiting)
        return expired

    def clear(self) -> list[W]:
        """All of them: nothing is to be committed here any more."""
        cleared = [each.waiting for each in self._queue]
        self._queue.clear()
        return cleared

    def next_deadline_ms(self) -> int | None:
        return self._queue[0].deadline_ms if self._queue else None
