"""Transcripts of rebalances: what members ask, and what they are told, in order."""

from snakka.protocol.error_codes import ErrorCode
from tests.coordinators.groups.scenario import Scenario, play, play_after, shown, two_members


def test_a_first_generation_waits_for_more_members_and_a_while_longer_for_each() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("a")
        await s.advance(2_999)
        await s.enter("b")
        await s.advance(1)
        await s.advance(2_999)
        await s.advance(1)
        await s.sync("b")
        await s.sync("a", a="p0", b="p1")

    assert play(body) == shown(
        """
        > a joins
        a: MEMBER_ID_REQUIRED
        > a joins
        > +2999 ms
        > b joins
        b: MEMBER_ID_REQUIRED
        > b joins
        > +1 ms
        > +2999 ms
        > +1 ms
        a: joined generation 1 (range) as leader of a b
        b: joined generation 1 (range)
        > b syncs
        > a syncs
        a: works on p0
        b: works on p1
        """
    )


def test_waiting_for_a_first_generation_ends_with_the_rebalance_timeout() -> None:
    async def body(s: Scenario) -> None:
        for name in "abcd":
            await s.join(name, version=3, rebalance_timeout_ms=7_000)
            await s.advance(2_500)

    assert play(body) == shown(
        """
        > a joins
        > +2500 ms
        > b joins
        > +2500 ms
        > c joins
        > +2500 ms
        a: joined generation 1 (range) as leader of a b c
        b: joined generation 1 (range)
        c: joined generation 1 (range)
        > d joins
        > +2500 ms
        """
    )


def test_a_new_member_makes_everybody_join_again() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("c")
        await s.heartbeat("a")
        await s.join("a")
        await s.join("b")
        await s.sync("b")
        await s.sync("c")
        await s.sync("a", a="p0", b="p1", c="p2")
        await s.heartbeat("c")

    assert play_after(two_members, body) == shown(
        """
        > c joins
        c: MEMBER_ID_REQUIRED
        > c joins
        > a heartbeats
        a: REBALANCE_IN_PROGRESS
        > a joins
        > b joins
        b: joined generation 2 (range)
        a: joined generation 2 (range) as leader of a b c
        c: joined generation 2 (range)
        > b syncs
        > c syncs
        > a syncs
        a: works on p0
        b: works on p1
        c: works on p2
        > c heartbeats
        c: NONE
        """
    )


def test_a_member_that_falls_silent_loses_its_work() -> None:
    async def body(s: Scenario) -> None:
        await s.advance(5_000)
        await s.heartbeat("a")
        await s.advance(5_000)
        await s.heartbeat("b")
        await s.heartbeat("a")
        await s.join("a")
        await s.sync("a", a="p0 p1")

    assert play_after(two_members, body) == shown(
        """
        > +5000 ms
        > a heartbeats
        a: NONE
        > +5000 ms
        > b heartbeats
        b: UNKNOWN_MEMBER_ID
        > a heartbeats
        a: REBALANCE_IN_PROGRESS
        > a joins
        a: joined generation 2 (range) as leader of a
        > a syncs
        a: works on p0 p1
        """
    )


def test_a_member_that_does_not_join_again_in_time_is_out() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("c", rebalance_timeout_ms=8_000)
        await s.join("a", rebalance_timeout_ms=8_000)
        for _ in range(6):
            await s.advance(9_999)
            await s.heartbeat("b")
        await s.advance(6)
        await s.heartbeat("b")

    assert play_after(two_members, body) == shown(
        """
        > c joins
        c: MEMBER_ID_REQUIRED
        > c joins
        > a joins
        > +9999 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        > +9999 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        > +9999 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        > +9999 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        > +9999 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        > +9999 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        > +6 ms
        a: joined generation 2 (range) as leader of a c
        c: joined generation 2 (range)
        > b heartbeats
        b: UNKNOWN_MEMBER_ID
        """
    )


def test_a_member_that_does_not_fetch_its_work_is_out() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("a", "b", session_timeout_ms=100_000)
        await s.advance(6_000)
        await s.sync("a", a="p0", b="p1")
        await s.advance(60_000)
        await s.heartbeat("b")
        await s.heartbeat("a")

    assert play(body) == shown(
        """
        > a joins
        a: MEMBER_ID_REQUIRED
        > a joins
        > b joins
        b: MEMBER_ID_REQUIRED
        > b joins
        > +6000 ms
        a: joined generation 1 (range) as leader of a b
        b: joined generation 1 (range)
        > a syncs
        a: works on p0
        > +60000 ms
        > b heartbeats
        b: UNKNOWN_MEMBER_ID
        > a heartbeats
        a: REBALANCE_IN_PROGRESS
        """
    )


def test_who_waits_for_work_when_the_next_rebalance_comes_is_told_so() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("a", "b")
        await s.advance(6_000)
        await s.sync("b")
        await s.leave("a")
        await s.join("b")

    assert play(body) == shown(
        """
        > a joins
        a: MEMBER_ID_REQUIRED
        > a joins
        > b joins
        b: MEMBER_ID_REQUIRED
        > b joins
        > +6000 ms
        a: joined generation 1 (range) as leader of a b
        b: joined generation 1 (range)
        > b syncs
        > a leaves
        a: left, NONE
        b: REBALANCE_IN_PROGRESS
        > b joins
        b: joined generation 2 (range) as leader of b
        """
    )


def test_a_group_that_everybody_has_left_goes_on_counting() -> None:
    async def body(s: Scenario) -> None:
        await s.leave("b")
        await s.heartbeat("a")
        await s.join("a")
        await s.leave("a")
        await s.restart()
        await s.enter("c")
        await s.advance(3_000)

    assert play_after(two_members, body) == shown(
        """
        > b leaves
        b: left, NONE
        > a heartbeats
        a: REBALANCE_IN_PROGRESS
        > a joins
        a: joined generation 2 (range) as leader of a
        > a leaves
        a: left, NONE
        > failover
        > c joins
        c: MEMBER_ID_REQUIRED
        > c joins
        > +3000 ms
        c: joined generation 4 (range) as leader of c
        """
    )


def test_a_failover_keeps_generation_and_members() -> None:
    async def body(s: Scenario) -> None:
        await s.restart()
        await s.heartbeat("a")
        await s.sync("b")
        await s.advance(9_999)
        await s.heartbeat("b")
        await s.advance(1)
        await s.heartbeat("b")

    assert play_after(two_members, body) == shown(
        """
        > failover
        > a heartbeats
        a: NONE
        > b syncs
        b: works on p1
        > +9999 ms
        > b heartbeats
        b: NONE
        > +1 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        """
    )


def test_sessions_begin_anew_after_a_failover() -> None:
    async def body(s: Scenario) -> None:
        await s.restart()
        await s.advance(9_999)
        await s.heartbeat("b")
        await s.advance(1)
        await s.heartbeat("b")

    assert play_after(two_members, body) == shown(
        """
        > failover
        > +9999 ms
        > b heartbeats
        b: NONE
        > +1 ms
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        """
    )


def test_a_failover_ends_a_rebalance() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("c")
        await s.restart()
        await s.join("c")
        await s.heartbeat("a")
        del s.ids["c"]
        await s.enter("c")

    assert play_after(two_members, body) == shown(
        """
        > c joins
        c: MEMBER_ID_REQUIRED
        > c joins
        > failover
        c: NOT_COORDINATOR
        > c joins
        c: UNKNOWN_MEMBER_ID
        > a heartbeats
        a: NONE
        > c joins
        c: MEMBER_ID_REQUIRED
        > c joins
        """
    )


def test_work_is_handed_out_once_it_is_stored_on_all_replicas() -> None:  # pitfall 1
    async def body(s: Scenario) -> None:
        await s.enter("a", "b")
        await s.advance(6_000)
        await s.sync("b")
        await s.sync("a", a="p0", b="p1")
        await s.commit()

    assert play(body, commits_at_once=False) == shown(
        """
        > a joins
        a: MEMBER_ID_REQUIRED
        > a joins
        > b joins
        b: MEMBER_ID_REQUIRED
        > b joins
        > +6000 ms
        a: joined generation 1 (range) as leader of a b
        b: joined generation 1 (range)
        > b syncs
        > a syncs
        > replicated
        a: works on p0
        b: works on p1
        """
    )


def test_work_that_cannot_be_stored_is_assigned_again() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("a", "b")
        await s.advance(6_000)
        await s.sync("b")
        s.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
        await s.sync("a", a="p0", b="p1")
        s.log.refusal = None
        await s.join("a")
        await s.sync("a", a="p0", b="p1")
        await s.sync("b")

    assert play(body) == shown(
        """
        > a joins
        a: MEMBER_ID_REQUIRED
        > a joins
        > b joins
        b: MEMBER_ID_REQUIRED
        > b joins
        > +6000 ms
        a: joined generation 1 (range) as leader of a b
        b: joined generation 1 (range)
        > b syncs
        > a syncs
        a: COORDINATOR_NOT_AVAILABLE
        b: COORDINATOR_NOT_AVAILABLE
        > a joins
        a: joined generation 1 (range) as leader of a b
        > a syncs
        a: works on p0
        > b syncs
        b: works on p1
        """
    )
