"""Time for coordinators on an event loop: the wall's when it starts, the monotonic clock's after.

Sessions and retention compare moments of this one clock, which setting the wall clock leaves alone.
"""

import asyncio
from collections.abc import Callable

from snakka.coordinators.ports import Timer


class LoopTimers:
    """Timers on the running event loop."""

    def __init__(self, wall_now_ms: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._offset_ms = wall_now_ms - self._loop.time() * 1000

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000 + self._offset_ms)

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self._loop.call_later(delay_ms / 1000, callback)
