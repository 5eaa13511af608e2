"""Which sessions are kept, which go, and in which order their partitions are read."""

import random

import pytest

from snakka.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from snakka.replication.errors import (
    FetchSessionNotFoundError,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpochError,
)
from snakka.replication.fetch_sessions import (
    EVICTION_MS,
    FINAL_EPOCH,
    NO_SESSION,
    FetchSession,
    FetchSessions,
)
from snakka.replication.parked import Waiters


def topic(*indexes: int, name: str = "t") -> FetchTopic:
    return FetchTopic(
        topic=name,
        partitions=[
            FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1)
            for index in indexes
        ],
    )


def request(
    *indexes: int, session_id: int = 0, epoch: int = 0, forgotten: tuple[int, ...] = ()
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        session_id=session_id,
        session_epoch=epoch,
        topics=[topic(*indexes)] if indexes else [],
        forgotten_topics_data=[ForgottenTopic(topic="t", partitions=list(forgotten))],
    )


def follower(*indexes: int) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        session_epoch=0,
        replica_state=ReplicaState(replica_id=2),
        topics=[topic(*indexes)],
    )


def opened(sessions: FetchSessions, asked: FetchRequest, now_ms: int = 0) -> FetchSession:
    """The session after a fetch that was answered."""
    session = sessions.open(asked, uses_topic_ids=False, now_ms=now_ms)
    session.take_changed()
    sessions.keep(session, now_ms)
    sessions.release(session)
    return session


def indexes(session: FetchSession) -> list[int]:
    return [each.asked.partition for each in session.take_changed()]


@pytest.fixture
def sessions() -> FetchSessions:
    return FetchSessions(2, random.Random(1))


def test_a_session_is_continued_by_the_next_epoch_only(sessions: FetchSessions) -> None:
    session = opened(sessions, request(0, 1))
    assert session.id > 0
    again = opened(sessions, request(session_id=session.id, epoch=1))
    assert again is session
    for epoch in (1, 3):
        with pytest.raises(InvalidFetchSessionEpochError):
            opened(sessions, request(session_id=session.id, epoch=epoch))
    assert opened(sessions, request(session_id=session.id, epoch=2)) is session


def test_the_epoch_after_the_largest_is_1(sessions: FetchSessions) -> None:
    session = opened(sessions, request(0))
    session.epoch = 2**31 - 1
    opened(sessions, request(session_id=session.id, epoch=2**31 - 1))
    assert session.epoch == 1


def test_a_session_that_is_not_there(sessions: FetchSessions) -> None:
    with pytest.raises(FetchSessionNotFoundError):
        opened(sessions, request(session_id=7, epoch=1))


def test_a_session_keeps_to_names_or_to_ids(sessions: FetchSessions) -> None:
    session = opened(sessions, request(0))
    asked = request(session_id=session.id, epoch=1)
    with pytest.raises(FetchSessionTopicIdError):
        sessions.open(asked, uses_topic_ids=True, now_ms=0)


@pytest.mark.parametrize("epoch", [0, FINAL_EPOCH])
def test_a_full_fetch_ends_the_session_that_it_names(sessions: FetchSessions, epoch: int) -> None:
    session = opened(sessions, request(0))
    new = opened(sessions, request(0, session_id=session.id, epoch=epoch))
    assert (new.id == NO_SESSION) == (epoch == FINAL_EPOCH)
    with pytest.raises(FetchSessionNotFoundError):
        opened(sessions, request(session_id=session.id, epoch=1))


def test_a_session_without_partitions_ends(sessions: FetchSessions) -> None:
    session = opened(sessions, request(0, 1))
    opened(sessions, request(session_id=session.id, epoch=1, forgotten=(0, 1, 5)))
    assert session.id == NO_SESSION
    assert len(sessions) == 0


def test_only_what_is_asked_for_or_marked_is_read(sessions: FetchSessions) -> None:
    session = sessions.open(request(0, 1, 2), uses_topic_ids=False, now_ms=0)
    taken = session.take_changed()
    waiters = [Waiters() for _ in taken]
    for partition, waiter in zip(taken, waiters, strict=True):
        partition.found_at(waiter)
    waiters[1].on_changed()
    assert indexes(session) == []  # it watches once it is kept
    sessions.keep(session, 0)
    sessions.release(session)
    waiters[2].on_changed()
    waiters[1].on_changed()
    sessions.open(request(0, session_id=session.id, epoch=1), uses_topic_ids=False, now_ms=0)
    assert indexes(session) == [2, 1, 0]
    sessions.open(
        request(session_id=session.id, epoch=2, forgotten=(1,)), uses_topic_ids=False, now_ms=0
    )
    for waiter in waiters:
        waiter.on_changed()
    assert indexes(session) == [0, 2]


def test_a_partition_that_comes_to_be_elsewhere_is_watched_there(sessions: FetchSessions) -> None:
    session = sessions.open(request(0), uses_topic_ids=False, now_ms=0)
    (partition,) = session.take_changed()
    before, after = Waiters(), Waiters()
    partition.found_at(before)
    sessions.keep(session, 0)
    sessions.release(session)
    partition.found_at(after)
    before.on_changed()
    assert indexes(session) == []
    after.on_changed()
    assert indexes(session) == [0]


def test_what_was_served_goes_last(sessions: FetchSessions) -> None:
    session = sessions.open(request(0, 1, 2, 3), uses_topic_ids=False, now_ms=0)
    taken = session.take_changed()
    session.mark(taken[3])
    session.put_back(first=[taken[2]], last=[taken[0], taken[1]])
    assert indexes(session) == [2, 3, 0, 1]


def test_what_was_forgotten_meanwhile_is_not_put_back(sessions: FetchSessions) -> None:
    session = opened(sessions, request(0, 1))
    session.ask([topic(0, 1)])
    taken = session.take_changed()
    session.forget([ForgottenTopic(topic="t", partitions=[0])])
    session.put_back(first=taken, last=[])
    assert indexes(session) == [1]


def test_a_full_cache_keeps_its_young_sessions(sessions: FetchSessions) -> None:
    kept = [opened(sessions, request(0)), opened(sessions, request(0))]
    assert opened(sessions, request(*range(9))).id == NO_SESSION
    assert opened(sessions, request(session_id=kept[0].id, epoch=1)) is kept[0]


def test_a_session_that_nobody_uses_goes_first(sessions: FetchSessions) -> None:
    stale, used = opened(sessions, request(*range(9))), opened(sessions, request(0))
    opened(sessions, request(session_id=used.id, epoch=1), now_ms=EVICTION_MS)
    assert opened(sessions, request(0), now_ms=EVICTION_MS + 1).id != NO_SESSION
    with pytest.raises(FetchSessionNotFoundError):
        opened(sessions, request(session_id=stale.id, epoch=1))


def test_an_old_session_makes_way_for_a_larger_one(sessions: FetchSessions) -> None:
    small, large = opened(sessions, request(0, 1)), opened(sessions, request(*range(9)))
    for each in (small, large):
        opened(sessions, request(session_id=each.id, epoch=1), now_ms=EVICTION_MS + 1)
    later = EVICTION_MS + 2
    assert opened(sessions, request(0, 1), now_ms=later).id == NO_SESSION
    assert opened(sessions, request(0, 1, 2), now_ms=later).id != NO_SESSION
    with pytest.raises(FetchSessionNotFoundError):
        opened(sessions, request(session_id=small.id, epoch=2))


def test_a_follower_displaces_any_consumer_but_no_follower(sessions: FetchSessions) -> None:
    consumer, other = opened(sessions, follower(0)), opened(sessions, request(*range(9)))
    assert opened(sessions, follower(0)).id != NO_SESSION
    with pytest.raises(FetchSessionNotFoundError):
        opened(sessions, request(session_id=other.id, epoch=1))
    assert opened(sessions, follower(*range(9))).id == NO_SESSION
    assert opened(sessions, request(session_id=consumer.id, epoch=1)) is consumer


def test_no_slots_no_sessions() -> None:
    sessions = FetchSessions(0, random.Random(1))
    assert opened(sessions, request(0)).id == NO_SESSION


def test_an_evicted_session_watches_no_more_and_wakes_who_waits(sessions: FetchSessions) -> None:
    session = sessions.open(request(0), uses_topic_ids=False, now_ms=0)
    (partition,) = session.take_changed()
    waiters = Waiters()
    partition.found_at(waiters)
    sessions.keep(session, 0)
    sessions.release(session)
    woken = []
    session.on_changed = lambda: woken.append(1)
    opened(sessions, request(0, session_id=session.id))
    assert woken == [1]
    waiters.on_changed()
    assert indexes(session) == []
