"""Transcripts of members that join: who is let in, and as what."""

from tests.coordinators.groups.scenario import Scenario, play, play_after, shown, two_members


def test_ids_given_out_are_known_in_the_middle_of_a_rebalance() -> None:  # pitfall 31
    async def body(s: Scenario) -> None:
        for name in "cde":
            await s.join(name)
        await s.join("c")
        await s.join("d")
        await s.join("a")
        await s.join("b")
        await s.join("e")
        await s.join("f")
        await s.join("f")

    assert play_after(two_members, body) == shown(
        """
        > c joins
        c: MEMBER_ID_REQUIRED
        > d joins
        d: MEMBER_ID_REQUIRED
        > e joins
        e: MEMBER_ID_REQUIRED
        > c joins
        > d joins
        > a joins
        > b joins
        > e joins
        e: joined generation 2 (range)
        a: joined generation 2 (range) as leader of a b c d e
        b: joined generation 2 (range)
        c: joined generation 2 (range)
        d: joined generation 2 (range)
        > f joins
        f: MEMBER_ID_REQUIRED
        > f joins
        """
    )


def test_a_lost_answer_is_given_again() -> None:
    async def body(s: Scenario) -> None:
        await s.enter("a", "b")
        await s.advance(6_000)
        await s.join("b")
        await s.join("a")
        await s.sync("b")
        await s.sync("b")
        await s.sync("a", a="p0", b="p1")
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
        > b joins
        b: joined generation 1 (range)
        > a joins
        a: joined generation 1 (range) as leader of a b
        > b syncs
        > b syncs
        b: REBALANCE_IN_PROGRESS
        > a syncs
        a: works on p0
        b: works on p1
        > b joins
        b: joined generation 1 (range)
        """
    )


def test_the_protocol_is_the_one_that_most_members_like_best() -> None:
    async def body(s: Scenario) -> None:
        await s.join("a", protocols="range cooperative-sticky roundrobin", version=3)
        await s.join("b", protocols="cooperative-sticky range", version=3)
        await s.join("c", protocols="cooperative-sticky range", version=3)
        await s.join("d", protocols="sticky", version=3)
        await s.join("e", protocols="range", protocol_type="connect", version=3)
        await s.advance(6_000)

    assert play(body) == shown(
        """
        > a joins
        > b joins
        > c joins
        > d joins
        d: INCONSISTENT_GROUP_PROTOCOL
        > e joins
        e: INCONSISTENT_GROUP_PROTOCOL
        > +6000 ms
        a: joined generation 1 (cooperative-sticky) as leader of a b c
        b: joined generation 1 (cooperative-sticky)
        c: joined generation 1 (cooperative-sticky)
        """
    )


def test_a_group_that_is_full_turns_members_away() -> None:
    async def body(s: Scenario) -> None:
        await s.join("c")
        await s.leave("b")
        await s.join("c")

    assert play_after(two_members, body, max_size=2) == shown(
        """
        > c joins
        c: GROUP_MAX_SIZE_REACHED
        > b leaves
        b: left, NONE
        > c joins
        c: MEMBER_ID_REQUIRED
        """
    )


def test_session_timeouts_have_limits() -> None:
    async def body(s: Scenario) -> None:
        await s.join("a", session_timeout_ms=5_999)
        await s.join("a", session_timeout_ms=1_800_001)

    assert play(body) == shown(
        """
        > a joins
        a: INVALID_SESSION_TIMEOUT
        > a joins
        a: INVALID_SESSION_TIMEOUT
        """
    )


def test_an_id_that_nobody_comes_back_with_is_forgotten() -> None:
    async def body(s: Scenario) -> None:
        await s.join("c")
        await s.enter("d")
        await s.join("a")
        await s.join("b")
        await s.advance(10_000)
        await s.join("c")

    assert play_after(two_members, body) == shown(
        """
        > c joins
        c: MEMBER_ID_REQUIRED
        > d joins
        d: MEMBER_ID_REQUIRED
        > d joins
        > a joins
        > b joins
        > +10000 ms
        a: joined generation 2 (range) as leader of a b d
        b: joined generation 2 (range)
        d: joined generation 2 (range)
        > c joins
        c: UNKNOWN_MEMBER_ID
        """
    )
