"""Time in a simulation: one queue of events for all nodes, and each node's own idea of the time.

Events of one moment happen in the order they were planned, so that a seed replays a run exactly.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Scheduler:
    """What happens next, in simulated milliseconds that only this class advances."""

    now_ms: int = 0
    _planned: int = 0
    _queue: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)

    def at(self, time_ms: int, event: Callable[[], None]) -> None:
        self._planned += 1
        heapq.heappush(self._queue, (max(time_ms, self.now_ms), self._planned, event))

    def after(self, delay_ms: int, event: Callable[[], None]) -> None:
        self.at(self.now_ms + delay_ms, event)

    @property
    def is_due(self) -> bool:
        """Whether something is left to happen at this very moment."""
        return bool(self._queue) and self._queue[0][0] <= self.now_ms

    def step(self, end_ms: int) -> bool:
        """Lets the next event happen; False when there is none before `end_ms`."""
        if not self._queue or self._queue[0][0] >= end_ms:
            self.now_ms = max(self.now_ms, end_ms)
            return False
        self.now_ms, _, event = heapq.heappop(self._queue)
        event()
        return True


@dataclass(slots=True)
class NodeClock:
    """A node's clock, which jumps now and then but runs as fast as all others."""

    scheduler: Scheduler
    offset_ms: int = 0

    @property
    def now_ms(self) -> int:
        return self.scheduler.now_ms + self.offset_ms

    def to_simulated_ms(self, node_ms: int) -> int:
        return node_ms - self.offset_ms

    def jump(self, by_ms: int) -> None:
        self.offset_ms += by_ms
