"""The requests under way: one at most to each node, with a timeout, and a pause after a failure.

Forgetting them all, as every change of role does, makes their answers mean nothing: a vote granted
to a candidacy that is over, or a fetch of an epoch that has passed, must never be counted.
"""

from dataclasses import dataclass
from typing import NamedTuple

from snakka.protocol.schema import Request
from snakka.quorum.config import QuorumConfig


class Node(NamedTuple):
    """Where to send. Bootstrap servers, whose ids are unknown, have ids from -2 down."""

    id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class PendingRequest:
    node: Node
    message: Request
    deadline_ms: int


class Peers:
    __slots__ = ("_backoff_until_ms", "_correlation_ids", "_next_correlation_id", "_pending")

    def __init__(self) -> None:
        self._next_correlation_id = 0
        self._pending: dict[int, PendingRequest] = {}
        self._correlation_ids: dict[int, int] = {}  # by node
        self._backoff_until_ms: dict[int, int] = {}  # by node

    def is_ready(self, node: Node, now_ms: int) -> bool:
        if node.id in self._correlation_ids:
            return False
        return self._backoff_until_ms.get(node.id, now_ms) <= now_ms

    @property
    def is_waiting(self) -> bool:
        return bool(self._pending)

    def start(self, node: Node, message: Request, deadline_ms: int) -> int:
        """The correlation id of a request that is now under way."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id += 1
        self._pending[correlation_id] = PendingRequest(node, message, deadline_ms)
        self._correlation_ids[node.id] = correlation_id
        self._backoff_until_ms.pop(node.id, None)
        return correlation_id

    def finish(self, correlation_id: int) -> PendingRequest | None:
        """The request that an answer belongs to; None when nobody waits for it any more."""
        pending = self._pending.pop(correlation_id, None)
        if pending is not None:
            del self._correlation_ids[pending.node.id]
        return pending

    def back_off(self, node: Node, now_ms: int, config: QuorumConfig) -> None:
        self._backoff_until_ms[node.id] = now_ms + config.retry_backoff_ms

    def expire(self, now_ms: int) -> None:
        """Gives up on what was not answered in time."""
        for correlation_id, pending in list(self._pending.items()):
            if pending.deadline_ms <= now_ms:
                self.finish(correlation_id)

    def forget_all(self) -> None:
        self._pending.clear()
        self._correlation_ids.clear()
        self._backoff_until_ms.clear()

    def next_deadline_ms(self, now_ms: int) -> int | None:
        """When something may be sent that could not be before."""
        moments = [pending.deadline_ms for pending in self._pending.values()]
        moments += [at_ms for at_ms in self._backoff_until_ms.values() if at_ms > now_ms]
        return min(moments, default=None)
