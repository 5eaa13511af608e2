"""Fetch sessions (KIP-227): what a client fetches, and what of it has changed since. Pure.

A partition marks itself changed in the sessions that watch it, so an incremental fetch costs what
changed, however much the session holds. What a fetch leaves unread stays first in line, and what
it was given records of goes last, so that no partition starves behind busy ones.

Every fetch has a session while it lasts; `FetchSessions` keeps those that may be continued.

Not here: reading, waiting and answering (apis/fetch.py).
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import Final, TypeAlias

from snakka.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from snakka.protocol.types import Uuid
from snakka.replication.errors import (
    FetchSessionNotFoundError,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpochError,
)
from snakka.replication.parked import Waiters

NO_SESSION: Final = 0
NOT_TOLD: Final = -1
FINAL_EPOCH: Final = -1
_INITIAL_EPOCH: Final = 0
_EPOCH_MAX: Final = (1 << 31) - 1
_ID_MAX: Final = (1 << 31) - 1
EVICTION_MS: Final = 120_000  # unused or old for so long, a session may have to go

PartitionKey: TypeAlias = tuple[str | Uuid, int]


class FetchedPartition:
    """One partition of a session: what is asked of it, and what the client was told last."""

    __slots__ = (
        "_session",
        "_waiters",
        "asked",
        "high_watermark",
        "key",
        "log_start_offset",
        "topic",
        "topic_id",
    )

    def __init__(
        self, session: "FetchSession", key: PartitionKey, topic: FetchTopic, asked: FetchPartition
    ) -> None:
        self._session = session
        self._waiters: Waiters | None = None
        self.key = key
        self.topic = topic.topic
        self.topic_id = topic.topic_id
        self.asked = asked
        self.high_watermark = NOT_TOLD
        self.log_start_offset = NOT_TOLD

    def on_changed(self) -> None:
        self._session.mark(self)

    def found_at(self, waiters: Waiters | None) -> None:
        """Its replica is this one by now; None where there is none."""
        if waiters is not self._waiters:
            if self._session.is_watching:
                self.unwatch()
                self._waiters = waiters
                self.watch()
            else:
                self._waiters = waiters

    def watch(self) -> None:
        if self._waiters is not None:
            self._waiters.watch(self)

    def unwatch(self) -> None:
        if self._waiters is not None:
            self._waiters.unwatch(self)


class FetchSession:
    """The partitions of a client's fetches, in the order in which they are to be read."""

    __slots__ = (
        "_changed",
        "_partitions",
        "created_ms",
        "epoch",
        "id",
        "is_incremental",
        "is_privileged",
        "is_watching",
        "on_changed",
        "used_ms",
        "uses_topic_ids",
    )

    def __init__(self, *, is_privileged: bool, uses_topic_ids: bool, now_ms: int) -> None:
        self.id = NO_SESSION
        self.epoch = FINAL_EPOCH
        self.is_privileged = is_privileged
        self.uses_topic_ids = uses_topic_ids
        self.is_incremental = False  # only what changed is told; else all of it, this once
        self.is_watching = False
        self.created_ms = self.used_ms = now_ms
        self.on_changed: Callable[[], None] | None = None  # wakes the fetch that waits
        self._partitions: dict[PartitionKey, FetchedPartition] = {}
        self._changed: dict[FetchedPartition, None] = {}

    def __len__(self) -> int:
        return len(self._partitions)

    def ask(self, topics: Iterable[FetchTopic]) -> None:
        """Takes in what a request names: it is to be read, whatever was told of it."""
        for topic in topics:
            name = topic.topic_id if self.uses_topic_ids else topic.topic
            for asked in topic.partitions:
                key = (name, asked.partition)
                partition = self._partitions.get(key)
                if partition is None:
                    partition = FetchedPartition(self, key, topic, asked)
                    self._partitions[key] = partition
                partition.asked = asked
                self._changed[partition] = None

    def forget(self, topics: Iterable[ForgottenTopic]) -> None:
        for topic in topics:
            name = topic.topic_id if self.uses_topic_ids else topic.topic
            for index in topic.partitions:
                partition = self._partitions.pop((name, index), None)
                if partition is not None:
                    self._changed.pop(partition, None)
                    partition.unwatch()

    def mark(self, partition: FetchedPartition) -> None:
        """There is something new to be told of the partition."""
        self._changed[partition] = None
        if self.on_changed is not None:
            self.on_changed()

    def take_changed(self) -> list[FetchedPartition]:
        """What is to be read, in this order."""
        taken = list(self._changed)
        self._changed.clear()
        return taken

    def put_back(self, first: Iterable[FetchedPartition], last: Iterable[FetchedPartition]) -> None:
        """What was taken and is to be read again, before and after what was marked meanwhile."""
        marked, self._changed = self._changed, {}
        for each in (*first, *marked, *last):
            if each.key in self._partitions:
                self._changed[each] = None

    def watch(self) -> None:
        """Marks partitions as they change, from now on."""
        if not self.is_watching:
            self.is_watching = True
            for partition in self._partitions.values():
                partition.watch()

    def close(self) -> None:
        if self.is_watching:
            self.is_watching = False
            for partition in self._partitions.values():
                partition.unwatch()
        if self.on_changed is not None:
            self.on_changed()


class FetchSessions:
    """The sessions that clients may continue, no more than `slots_max`."""

    def __init__(self, slots_max: int, rng: Random) -> None:
        self._slots_max = slots_max
        self._rng = rng
        self._sessions: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, request: FetchRequest, *, uses_topic_ids: bool, now_ms: int) -> FetchSession:
        """The session of a request; raises where it cannot be continued."""
        if request.session_epoch in (_INITIAL_EPOCH, FINAL_EPOCH):
            self._remove(request.session_id)
            session = FetchSession(
                is_privileged=_is_follower(request), uses_topic_ids=uses_topic_ids, now_ms=now_ms
            )
            session.epoch = request.session_epoch
            session.ask(request.topics)
            return session
        session = self._get(request, uses_topic_ids=uses_topic_ids)
        session.ask(request.topics)
        session.forget(request.forgotten_topics_data)
        if not session:
            self._remove(session.id)
            session.id, session.epoch = NO_SESSION, FINAL_EPOCH
            return session
        session.epoch = _next_epoch(session.epoch)
        session.used_ms = now_ms
        return session

    def keep(self, session: FetchSession, now_ms: int) -> None:
        """Gives a new session an id, where its client wants one and there is room."""
        is_new = session.id == NO_SESSION and session.epoch != FINAL_EPOCH
        if is_new and self._has_room(session, now_ms):
            session.id = self._new_id()
            session.epoch = _next_epoch(session.epoch)
            session.is_incremental = True
            session.used_ms = now_ms
            self._sessions[session.id] = session

    def release(self, session: FetchSession) -> None:
        """A fetch is over: what is kept goes on watching, and nothing else does."""
        if session.id in self._sessions:
            session.watch()
        else:
            session.close()

    def _get(self, request: FetchRequest, *, uses_topic_ids: bool) -> FetchSession:
        session = self._sessions.get(request.session_id)
        if session is None:
            raise FetchSessionNotFoundError(f"there is no fetch session {request.session_id}")
        if session.epoch != request.session_epoch:
            raise InvalidFetchSessionEpochError(
                f"fetch session {session.id} is at epoch {session.epoch}, "
                f"not {request.session_epoch}"
            )
        if session.uses_topic_ids != uses_topic_ids:
            raise FetchSessionTopicIdError(f"fetch session {session.id} names topics otherwise")
        return session

    def _has_room(self, session: FetchSession, now_ms: int) -> bool:
        if len(self._sessions) < self._slots_max:
            return True
        evicted = self._find_evictable(session, now_ms)
        if evicted is None:
            return False
        self._remove(evicted.id)
        return True

    def _find_evictable(self, new: FetchSession, now_ms: int) -> FetchSession | None:
        """The one unused for too long; else the smallest that is worth less than the new one.

        Followers' sessions are worth more than consumers', and larger ones more than smaller.
        A follower displaces any consumer; otherwise a session is safe while it is young.
        """
        kept = self._sessions.values()
        oldest = min(kept, key=lambda each: each.used_ms, default=None)
        if oldest is None or now_ms - oldest.used_ms > EVICTION_MS:
            return oldest
        evictable = (
            each
            for each in kept
            if each.used_ms - each.created_ms > EVICTION_MS
            or (new.is_privileged and not each.is_privileged)
        )
        least = min(evictable, key=_worth, default=None)
        return least if least is not None and _worth(least) < _worth(new) else None

    def _remove(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()

    def _new_id(self) -> int:
        while True:
            session_id = self._rng.randint(1, _ID_MAX)
            if session_id not in self._sessions:
                return session_id


def _worth(session: FetchSession) -> tuple[bool, int]:
    return session.is_privileged, len(session)


def _is_follower(request: FetchRequest) -> bool:
    return max(request.replica_id, request.replica_state.replica_id) >= 0


def _next_epoch(epoch: int) -> int:
    return 1 if epoch == _EPOCH_MAX else epoch + 1
