"""How fast compaction goes: below a rate of bytes, and never long without letting the loop run.

A thread that computes holds Python's lock for 5 ms at a time, and the event loop waits for it at
each of its wake-ups. A short sleep after each millisecond of work gives the lock back in time.
"""

import time
from collections.abc import Callable
from typing import Final

_WORK_S: Final = 0.001
_YIELD_S: Final = 0.00005


class Throttle:
    """Sleeps in the thread that reports its work."""

    __slots__ = ("_bytes_per_second", "_free_at_s", "_now_s", "_sleep", "_yielded_at_s")

    def __init__(
        self,
        bytes_per_second: float,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bytes_per_second = bytes_per_second
        self._now_s = now_s
        self._sleep = sleep
        self._free_at_s = self._yielded_at_s = now_s()

    def after(self, size_bytes: int) -> None:
        """Waits until so many bytes more are within the rate."""
        now_s = self._now_s()
        self._free_at_s = max(self._free_at_s, now_s) + size_bytes / self._bytes_per_second
        wait_s = self._free_at_s - now_s
        if wait_s > _WORK_S:
            self._sleep(wait_s)
        elif now_s - self._yielded_at_s > _WORK_S:
            self._sleep(_YIELD_S)
        else:
            return
        self._yielded_at_s = self._now_s()
