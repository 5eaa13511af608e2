"""A member of a consumer group: what it says, and when."""

from snakka.client.membership import MemberSettings, Membership, Subscription
from snakka.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from snakka.protocol.types import Uuid

ID = Uuid(b"the id of topics")
SETTINGS = MemberSettings("group", None, None, 300_000, None)


def joining() -> Membership:
    return Membership(SETTINGS, Subscription(("topic",)), "member")


def answer(epoch: int, *partitions: int, is_told: bool = True) -> ConsumerGroupHeartbeatResponse:
    told = Assignment(
        topic_partitions=[TopicPartitions(topic_id=ID, partitions=list(partitions))]
        if partitions
        else []
    )
    return ConsumerGroupHeartbeatResponse(
        throttle_time_ms=0,
        error_code=0,
        member_id="member",
        member_epoch=epoch,
        heartbeat_interval_ms=5000,
        assignment=told if is_told else None,
    )


def test_the_first_heartbeat_says_everything_and_the_next_one_nothing() -> None:
    member = joining()
    first = member.heartbeat()
    assert (first.member_epoch, first.subscribed_topic_names) == (0, ["topic"])
    assert (first.rebalance_timeout_ms, first.topic_partitions) == (300_000, [])
    member.answered(answer(1))
    assert not member.has_news
    assert not member.must_reconcile
    second = member.heartbeat()
    assert (second.member_epoch, second.subscribed_topic_names) == (1, None)
    assert (second.rebalance_timeout_ms, second.topic_partitions) == (-1, None)


def test_what_it_owns_is_said_once_it_has_changed() -> None:
    member = joining()
    member.heartbeat()
    member.answered(answer(1, 0, 2))
    assert member.must_reconcile
    assert member.heartbeat().topic_partitions is None  # nothing is taken yet
    member.answered(answer(1, is_told=False))
    member.take(member.target)
    assert member.heartbeat().topic_partitions == [TopicPartitions(topic_id=ID, partitions=[0, 2])]
    member.answered(answer(2, is_told=False))
    assert not member.has_news
    assert not member.must_reconcile


def test_what_changed_while_a_heartbeat_was_under_way_is_said_in_the_next() -> None:
    member = joining()
    member.heartbeat()
    member.answered(answer(1, 0))
    member.heartbeat()
    member.take(member.target)
    member.answered(answer(1, is_told=False))
    assert member.has_news


def test_after_a_lost_answer_everything_is_said_again() -> None:
    member = joining()
    member.heartbeat()
    member.answered(answer(1, 0))
    member.take(member.target)
    member.heartbeat()
    member.unanswered()
    again = member.heartbeat()
    assert (again.member_epoch, again.subscribed_topic_names) == (1, ["topic"])
    assert again.topic_partitions == [TopicPartitions(topic_id=ID, partitions=[0])]


def test_a_fenced_member_joins_anew_with_nothing() -> None:
    member = joining()
    member.heartbeat()
    member.answered(answer(1, 0))
    member.take(member.target)
    member.fenced()
    assert not member.must_reconcile
    again = member.heartbeat()
    assert (again.member_epoch, again.topic_partitions) == (0, [])
    assert again.subscribed_topic_names == ["topic"]


def test_leaving_keeps_the_place_of_a_static_member() -> None:
    member = joining()
    assert member.leave().member_epoch == -1
    settings = MemberSettings("group", "instance", None, 1, None)
    static = Membership(settings, Subscription(("topic",)), "member")
    assert (static.leave().member_epoch, static.leave().instance_id) == (-2, "instance")


def test_a_regular_expression_is_left_to_the_broker() -> None:
    member = Membership(SETTINGS, Subscription(regex="to.*"), "member")
    first = member.heartbeat()
    assert (first.subscribed_topic_regex, first.subscribed_topic_names) == ("to.*", None)
