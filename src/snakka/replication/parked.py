"""Requests that wait for a partition: for its high watermark, or for more records.

Whoever moves a partition on says so here, once; nothing polls. A wait ends with its time-out or by
being woken, whichever comes first.
"""

import asyncio
from collections import deque
from collections.abc import Iterable


class Waiters:
    """Who waits for one partition."""

    __slots__ = ("_for_offset", "_for_records")

    def __init__(self) -> None:
        self._for_offset: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._for_records: set[RecordsWait] = set()

    def add_offset(self, offset: int, future: asyncio.Future[None]) -> None:
        """`future` is done once the high watermark reaches `offset`. Offsets come in log order."""
        self._for_offset.append((offset, future))

    def on_high_watermark(self, high_watermark: int) -> None:
        waiting = self._for_offset
        while waiting and waiting[0][0] <= high_watermark:
            future = waiting.popleft()[1]
            if not future.done():
                future.set_result(None)

    def on_readable(self) -> None:
        """More records can be read."""
        for wait in list(self._for_records):
            wait.wake()

    def fail(self, error: Exception) -> None:
        """The partition is led by another broker now, or is gone: nobody is to wait any more."""
        while self._for_offset:
            future = self._for_offset.popleft()[1]
            if not future.done():
                future.set_exception(error)
        for wait in list(self._for_records):
            wait.wake()

    def watch(self, wait: "RecordsWait") -> None:
        self._for_records.add(wait)

    def unwatch(self, wait: "RecordsWait") -> None:
        self._for_records.discard(wait)


class RecordsWait:
    """A fetch that waits for more records in any of its partitions."""

    def __init__(self, partitions: Iterable[Waiters]) -> None:
        self._partitions = tuple(partitions)
        self._loop = asyncio.get_running_loop()
        self._woken = self._loop.create_future()
        for partition in self._partitions:
            partition.watch(self)

    def wake(self) -> None:
        if not self._woken.done():
            self._woken.set_result(None)

    async def wait(self, timeout_s: float) -> None:
        """Returns when one of the partitions has moved on, or when time is up."""
        timer = self._loop.call_later(timeout_s, self.wake)
        try:
            await self._woken
        finally:
            timer.cancel()
            for partition in self._partitions:
                partition.unwatch(self)
