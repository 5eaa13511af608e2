"""Which brokers are alive, as far as this controller has heard. Soft: lost with its leadership.

Not here: what becomes of a broker that is not (broker_fencing.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from snakka.metadata.brokers import Broker

_NEVER = -1


@dataclass(slots=True)
class _Session:
    """One broker process. `has_called` is false where an earlier controller registered it."""

    epoch: int
    last_contact_ms: int
    has_called: bool
    registered_at: int  # offset of its registration
    metadata_offset: int = _NEVER
    shutdown_offset: int | None = None  # of the record that began its controlled shutdown


class BrokerSessions:
    """Sessions by broker id; `broker.session.timeout.ms` without a heartbeat ends one."""

    def __init__(self, timeout_ms: int, brokers: Iterable[Broker], now_ms: int) -> None:
        """Gives every broker a whole timeout to find its way to this controller."""
        self._timeout_ms = timeout_ms
        self._sessions = {
            each.broker_id: _Session(each.epoch, now_ms, False, each.epoch) for each in brokers
        }

    def register(self, broker_id: int, epoch: int, registered_at: int, now_ms: int) -> None:
        self._sessions[broker_id] = _Session(epoch, now_ms, True, registered_at)

    def remove(self, broker_id: int) -> None:
        self._sessions.pop(broker_id, None)

    def touch(self, broker_id: int, metadata_offset: int, now_ms: int) -> None:
        session = self._sessions[broker_id]
        session.last_contact_ms = now_ms
        session.has_called = True
        session.metadata_offset = metadata_offset

    def is_valid(self, broker_id: int, now_ms: int) -> bool:
        """Whether a process with this id is known to be alive.

        One that only an earlier controller heard of is not: a node that was killed could not come
        back for a whole timeout, and takes its controller down with it where it runs both.
        """
        session = self._sessions.get(broker_id)
        return session is not None and session.has_called and not self._is_over(session, now_ms)

    def registered_at(self, broker_id: int) -> int:
        return self._sessions[broker_id].registered_at

    def begin_shutdown(self, broker_id: int, offset: int) -> None:
        session = self._sessions[broker_id]
        if session.shutdown_offset is None:
            session.shutdown_offset = offset

    def end_shutdown(self, broker_id: int) -> None:
        self._sessions[broker_id].shutdown_offset = None

    def shutdown_offset(self, broker_id: int) -> int | None:
        return self._sessions[broker_id].shutdown_offset

    def lowest_active_offset(self, active: Iterable[int]) -> int | None:
        """How far the slowest of these brokers is that is not shutting down; None of none."""
        sessions = (self._sessions[each] for each in active if each in self._sessions)
        offsets = (each.metadata_offset for each in sessions if each.shutdown_offset is None)
        return min(offsets, default=None)

    def expired(self, unfenced: Iterable[int], now_ms: int) -> list[int]:
        """The unfenced brokers that have not been heard of for too long."""
        return [
            each
            for each in unfenced
            if each in self._sessions and self._is_over(self._sessions[each], now_ms)
        ]

    def next_deadline_ms(self, unfenced: Iterable[int]) -> int | None:
        """When the first of these is over, unless it is heard of before."""
        sessions = (self._sessions[each] for each in unfenced if each in self._sessions)
        last = min((each.last_contact_ms for each in sessions), default=None)
        return None if last is None else last + self._timeout_ms + 1

    def _is_over(self, session: _Session, now_ms: int) -> bool:
        return now_ms - session.last_contact_ms > self._timeout_ms
