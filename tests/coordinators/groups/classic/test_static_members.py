"""Transcripts of groups whose members keep their place while they restart (KIP-345)."""

from tests.coordinators.groups.scenario import Scenario, play_after, shown, two_static_members


def test_a_static_member_that_restarts_gets_its_place_back() -> None:  # pitfall 30
    async def body(s: Scenario) -> None:
        old_id = s.ids["b"]
        await s.join("b", instance="ib", forget_id=True)
        new_id, s.ids["b"] = s.ids["b"], old_id
        await s.heartbeat("b", instance="ib")
        await s.heartbeat("b")
        s.ids["b"] = new_id
        await s.heartbeat("b", instance="ib")
        await s.sync("b")
        await s.restart()
        await s.heartbeat("b", instance="ib")

    assert play_after(two_static_members, body) == shown(
        """
        > b joins
        b: joined generation 1 (range)
        > b heartbeats
        b: FENCED_INSTANCE_ID
        > b heartbeats
        b: UNKNOWN_MEMBER_ID
        > b heartbeats
        b: NONE
        > b syncs
        b: works on p1
        > failover
        > b heartbeats
        b: NONE
        """
    )


def test_a_static_leader_that_restarts_assigns_nothing() -> None:
    async def body(s: Scenario) -> None:
        await s.join("a", instance="ia", forget_id=True)
        await s.sync("a")
        await s.join("a", instance="ia", forget_id=True, version=8)
        await s.heartbeat("b")

    assert play_after(two_static_members, body) == shown(
        """
        > a joins
        a: joined generation 1 (range) as leader of ib ia, nothing to assign
        > a syncs
        a: works on p0
        > a joins
        a: joined generation 1 (range)
        > b heartbeats
        b: NONE
        """
    )


def test_static_members_may_be_away_until_their_session_ends() -> None:
    async def body(s: Scenario) -> None:
        await s.join("c", instance="ic", rebalance_timeout_ms=4_000)
        await s.join("a", instance="ia", rebalance_timeout_ms=4_000)
        await s.heartbeat("b", instance="ib")
        await s.advance(9_999)
        await s.heartbeat("a", instance="ia")
        await s.advance(1)
        await s.heartbeat("b", instance="ib")
        await s.advance(60_000)

    assert play_after(two_static_members, body) == shown(
        """
        > c joins
        > a joins
        > b heartbeats
        b: REBALANCE_IN_PROGRESS
        > +9999 ms
        > a heartbeats
        a: REBALANCE_IN_PROGRESS
        > +1 ms
        a: joined generation 2 (range) as leader of ia ic
        c: joined generation 2 (range)
        > b heartbeats
        b: UNKNOWN_MEMBER_ID
        > +60000 ms
        """
    )


def test_an_administrator_removes_a_static_member_by_its_instance() -> None:  # pitfall 30
    async def body(s: Scenario) -> None:
        await s.leave("b", instance="ib")
        await s.leave("b", instance="ib")
        await s.heartbeat("a")
        await s.join("b", instance="ib", forget_id=True)
        await s.join("a", instance="ia")

    assert play_after(two_static_members, body) == shown(
        """
        > b leaves
        b: left, NONE
        > b leaves
        b: left, UNKNOWN_MEMBER_ID
        > a heartbeats
        a: REBALANCE_IN_PROGRESS
        > b joins
        > a joins
        a: joined generation 2 (range) as leader of ia ib
        b: joined generation 2 (range)
        """
    )
