"""What a consumer tells a node of what it wants, fetch by fetch."""

from collections.abc import Mapping

from snakka.client.fetch_session import FetchFrom, FetchSession
from snakka.client.records import TopicPartition
from snakka.protocol.types import Uuid

ID = Uuid(b"the id of topics")
A, B = TopicPartition("topic", 0), TopicPartition("topic", 1)


def wanted(**offsets: int) -> Mapping[TopicPartition, FetchFrom]:
    return {{"a": A, "b": B}[name]: FetchFrom(each, 0, ID) for name, each in offsets.items()}


def test_only_what_changed_is_told() -> None:
    session = FetchSession()
    first = session.next_request(wanted(a=1, b=2))
    assert (first.session_id, first.epoch, set(first.changed)) == (0, 0, {A, B})
    session.answered(77)
    second = session.next_request(wanted(a=5, b=2))
    assert (second.session_id, second.epoch) == (77, 1)
    assert second.changed == wanted(a=5)
    session.answered(77)
    third = session.next_request(wanted(a=5))
    assert (third.epoch, third.changed, third.forgotten) == (2, {}, {B: ID})


def test_where_there_are_no_sessions_everything_is_told() -> None:
    session = FetchSession()
    session.next_request(wanted(a=1))
    session.answered(0)
    again = session.next_request(wanted(a=1))
    assert (again.session_id, again.epoch, again.changed) == (0, 0, wanted(a=1))


def test_a_lost_session_begins_anew() -> None:
    session = FetchSession()
    session.next_request(wanted(a=1))
    session.answered(77)
    session.reset()
    again = session.next_request(wanted(a=1))
    assert (again.session_id, again.epoch, again.changed) == (0, 0, wanted(a=1))


def test_a_topic_that_was_made_anew_begins_a_new_session() -> None:
    session = FetchSession()
    session.next_request(wanted(a=1))
    session.answered(77)
    anew = {A: FetchFrom(1, 0, Uuid(b"of the new topic"))}
    again = session.next_request(anew)
    assert (again.epoch, again.changed, again.forgotten) == (0, anew, {})
