"""Deadlines by key, of which the next is known at once.

Sessions are renewed far more often than they end, so a later deadline only changes the table; the
heap learns of it when the earlier one comes up. It holds one entry per key, or few more.
"""

import heapq
from typing import Generic, TypeVar

K = TypeVar("K")


class Deadlines(Generic[K]):
    """When what is due."""

    def __init__(self) -> None:
        self._at_ms: dict[K, int] = {}
        self._heap: list[tuple[int, int, K]] = []
        self._planned: dict[K, int] = {}  # the earliest entry of a key in the heap
        self._count = 0  # orders entries of the same moment, so that keys need no order

    def __contains__(self, key: K) -> bool:
        return key in self._at_ms

    def set(self, key: K, at_ms: int) -> None:
        self._at_ms[key] = at_ms
        planned = self._planned.get(key)
        if planned is None or at_ms < planned:
            self._push(key, at_ms)

    def clear(self, key: K) -> None:
        self._at_ms.pop(key, None)

    def next_ms(self) -> int | None:
        """The next deadline, or an earlier moment at which there is nothing to do yet."""
        self._drop_cleared()
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> K | None:
        """One key whose deadline has passed, earliest first; it is cleared."""
        while self._heap and self._heap[0][0] <= now_ms:
            entry_ms, _, key = heapq.heappop(self._heap)
            if self._planned.get(key) != entry_ms:
                continue
            del self._planned[key]
            at_ms = self._at_ms.get(key)
            if at_ms is None:
                continue
            if at_ms > now_ms:
                self._push(key, at_ms)
                continue
            del self._at_ms[key]
            return key
        return None

    def _push(self, key: K, at_ms: int) -> None:
        self._planned[key] = at_ms
        self._count += 1
        heapq.heappush(self._heap, (at_ms, self._count, key))

    def _drop_cleared(self) -> None:
        while self._heap:
            entry_ms, _, key = self._heap[0]
            if key in self._at_ms and self._planned.get(key) == entry_ms:
                return
            heapq.heappop(self._heap)
            if self._planned.get(key) == entry_ms:
                del self._planned[key]
