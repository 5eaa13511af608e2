"""A member gives up before others are given: one step per heartbeat."""

from snakka.coordinators.groups.consumer.member import (
    NO_PARTITIONS,
    Member,
    MemberState,
    Partition,
    Partitions,
)
from snakka.coordinators.groups.consumer.reconciling import reconcile
from tests.coordinators.groups.consumer.topics import topic_id


def partitions(*indexes: int) -> Partitions:
    return frozenset(Partition(topic_id("t"), index) for index in indexes)


def test_a_member_is_given_what_is_free() -> None:
    held = partitions(2)
    member = reconcile(Member("m"), partitions(1, 2), 5, held.__contains__, NO_PARTITIONS)
    assert (member.state, member.epoch) == (MemberState.UNRELEASED_PARTITIONS, 5)
    assert member.assigned == partitions(1)
    member = reconcile(member, partitions(1, 2), 5, partitions(1).__contains__, partitions(1))
    assert (member.state, member.assigned) == (MemberState.STABLE, partitions(1, 2))


def test_a_member_stays_in_its_epoch_until_it_has_given_up_what_it_lost() -> None:
    member = Member("m", epoch=5, assigned=partitions(1, 2))
    nothing = frozenset[Partition]().__contains__
    waiting = reconcile(member, partitions(2, 3), 6, nothing, partitions(1, 2))
    assert (waiting.state, waiting.epoch) == (MemberState.UNREVOKED_PARTITIONS, 5)
    assert (waiting.assigned, waiting.revoking) == (partitions(2), partitions(1))
    assert reconcile(waiting, partitions(2, 3), 6, nothing, None) == waiting
    assert reconcile(waiting, partitions(2, 3), 6, nothing, partitions(1, 2)) == waiting
    done = reconcile(waiting, partitions(2, 3), 6, nothing, partitions(2))
    assert (done.state, done.epoch) == (MemberState.STABLE, 6)
    assert (done.assigned, done.revoking) == (partitions(2, 3), NO_PARTITIONS)


def test_a_member_that_has_what_it_should_only_follows_the_epoch() -> None:
    member = Member("m", epoch=5, assigned=partitions(1))
    followed = reconcile(member, partitions(1), 6, lambda each: True, None)
    assert (followed.state, followed.epoch) == (MemberState.STABLE, 6)
    assert reconcile(followed, partitions(1), 6, lambda each: True, None) is followed
