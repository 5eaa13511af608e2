"""Partitions that this broker leads but does not have yet, and the requests that wait for them.

A producer sends some batches ahead. Were the first refused, since its partition is still being
made, and the second taken a moment later, as a producer that is new to a log may begin with any
sequence, then the first could never be written any more. So its requests wait, and are carried out
in the order in which they came, before anything that comes later.

Not here: which partitions there are to be (node/hosting.py).
"""

from collections.abc import Callable

from snakka.protocol.types import Uuid


class Arrivals:
    """By topic id and partition."""

    def __init__(self) -> None:
        self._due: dict[tuple[Uuid, int], list[Callable[[], None]]] = {}

    def expect(self, topic_id: Uuid, index: int) -> None:
        self._due.setdefault((topic_id, index), [])

    def is_due(self, topic_id: Uuid, index: int) -> bool:
        return (topic_id, index) in self._due

    def add(self, topic_id: Uuid, index: int, act: Callable[[], None]) -> None:
        """`act` is called when the partition is here, or will not come."""
        self._due[topic_id, index].append(act)

    def arrived(self, topic_id: Uuid, index: int) -> None:
        for act in self._due.pop((topic_id, index), ()):
            act()
