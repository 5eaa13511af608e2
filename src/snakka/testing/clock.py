"""Time that a test can move on: an event loop's own, and the wall's beside it."""

import asyncio
import time


class MovableLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock can be advanced: its timers become due as if one had waited."""

    def __init__(self) -> None:
        self._advanced_s = 0.0
        super().__init__()

    def time(self) -> float:
        return super().time() + self._advanced_s

    def now_ms(self) -> int:
        """The wall's time, moved on as much."""
        return time.time_ns() // 1_000_000 + int(self._advanced_s * 1000)

    def advance(self, seconds: float) -> None:
        """To be called on this loop."""
        self._advanced_s += seconds
