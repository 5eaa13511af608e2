"""Who waits for a partition: for its high watermark, or for anything that a fetch would see.

Whoever moves a partition on says so here, once; nothing polls.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol


class Watch(Protocol):
    """Wants to know when a fetch of the partition would find something else than before."""

    def on_changed(self) -> None: ...


class Waiters:
    """Who waits for one partition. An empty deque takes 600 bytes, and most have nobody in it."""

    __slots__ = ("_for_offset", "_watches")

    def __init__(self) -> None:
        self._for_offset: deque[tuple[int, asyncio.Future[None]]] | None = None
        self._watches: dict[Watch, None] = {}

    def add_offset(self, offset: int, future: asyncio.Future[None]) -> None:
        """`future` is done once the high watermark reaches `offset`. Offsets come in log order."""
        if self._for_offset is None:
            self._for_offset = deque()
        self._for_offset.append((offset, future))

    def on_high_watermark(self, high_watermark: int) -> None:
        waiting = self._for_offset
        while waiting and waiting[0][0] <= high_watermark:
            future = waiting.popleft()[1]
            if not future.done():
                future.set_result(None)

    def on_changed(self) -> None:
        """There are more records, or the log begins elsewhere."""
        for watch in list(self._watches):
            watch.on_changed()

    def fail(self, error: Exception) -> None:
        """The partition is led by another broker now, or is gone: nobody is to wait any more."""
        while self._for_offset:
            future = self._for_offset.popleft()[1]
            if not future.done():
                future.set_exception(error)
        self.on_changed()

    def watch(self, watch: Watch) -> None:
        self._watches[watch] = None

    def unwatch(self, watch: Watch) -> None:
        self._watches.pop(watch, None)


class Watcher(Protocol):
    """Watches partitions for a fetch."""

    on_changed: Callable[[], None] | None

    def watch(self) -> None: ...


async def wait_for_change(watcher: Watcher, timeout_s: float) -> None:
    """Returns when one of the partitions has changed, or when time is up."""
    loop = asyncio.get_running_loop()
    woken = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    timer = loop.call_later(timeout_s, wake)
    watcher.on_changed = wake
    watcher.watch()
    try:
        await woken
    finally:
        timer.cancel()
        if watcher.on_changed is wake:
            watcher.on_changed = None
