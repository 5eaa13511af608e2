"""A live group between the classic and the consumer protocol: nobody owns what another one has."""

import asyncio
import struct
from collections.abc import Sequence
from random import Random

import pytest

from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.settings import GroupSettings, MigrationPolicy
from snakka.protocol.codec import decode, encode
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from snakka.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from snakka.protocol.messages.heartbeat import HeartbeatRequest
from snakka.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from snakka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.coordinators.fakes import settle
from tests.coordinators.groups.consumer.test_group_kinds import commit, listed
from tests.coordinators.groups.consumer.test_heartbeating import (
    NAMES,
    Consumer,
    Coordinator,
    run,
)

PARTITIONS = 6
VERSION = 1
PREFIX = struct.pack(">h", VERSION)


class ClassicConsumer:
    """A client of the classic protocol, cooperative or eager; as a leader it deals round robin."""

    def __init__(
        self,
        coordinator: Coordinator,
        name: str,
        *,
        is_eager: bool = False,
        instance_id: str | None = None,
    ) -> None:
        self.groups = coordinator.groups
        self.client = ClientInfo(name, "127.0.0.1", 9)
        self.is_eager = is_eager
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = -1
        self.owned: set[int] = set()
        self.is_joining = True

    async def step(self) -> str:
        """Does what comes next: joins again where it is told to, else sends a heartbeat."""
        if self.is_joining:
            return await self.join()
        request = HeartbeatRequest(
            group_id="g",
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        code = (await self.groups.heartbeat(request, self.client)).error_code
        self.is_joining = code in (
            ErrorCode.REBALANCE_IN_PROGRESS,
            ErrorCode.ILLEGAL_GENERATION,
            ErrorCode.UNKNOWN_MEMBER_ID,
        )
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id, self.owned = "", set()
        return NAMES[code]

    async def join(self) -> str:
        joined = await self.groups.join_group(self._join_request(), self.client)
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
            joined = await self.groups.join_group(self._join_request(), self.client)
        if joined.error_code:
            return NAMES[joined.error_code]
        self.member_id, self.generation = joined.member_id, joined.generation_id
        synced = await self.groups.sync_group(
            SyncGroupRequest(
                group_id="g",
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
                protocol_type="consumer",
                protocol_name=joined.protocol_name,
                assignments=_deal(joined) if joined.leader == self.member_id else [],
            ),
            self.client,
        )
        if synced.error_code:
            return NAMES[synced.error_code]
        message = decode(ConsumerProtocolAssignment, VERSION, synced.assignment[2:])
        assigned = {index for each in message.assigned_partitions for index in each.partitions}
        self.is_joining = not self.is_eager and bool(self.owned - assigned)
        self.owned = assigned
        return "NONE"

    async def leave(self) -> None:
        request = LeaveGroupRequest(
            group_id="g", members=[MemberIdentity(member_id=self.member_id)]
        )
        answer = await self.groups.leave_group(request, self.client)
        assert answer.members[0].error_code == 0

    def _join_request(self) -> JoinGroupRequest:
        if self.is_eager:
            self.owned = set()
        owned = [TopicPartition(topic="t", partitions=sorted(self.owned))] if self.owned else []
        subscription = ConsumerProtocolSubscription(topics=["t"], owned_partitions=owned)
        metadata = PREFIX + bytes(encode(subscription, VERSION))
        return JoinGroupRequest(
            group_id="g",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=30_000,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="dealt", metadata=metadata)],
        )


def _deal(joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
    assignments = []
    for position, member in enumerate(joined.members):
        indexes = list(range(position, PARTITIONS, len(joined.members)))
        message = ConsumerProtocolAssignment(
            assigned_partitions=[TopicPartition(topic="t", partitions=indexes)]
        )
        assignments.append(
            SyncGroupRequestAssignment(
                member_id=member.member_id,
                assignment=PREFIX + bytes(encode(message, VERSION)),
            )
        )
    return assignments


SOON = GroupSettings(initial_rebalance_delay_ms=0)


async def beat(member: Consumer | ClassicConsumer) -> None:
    if isinstance(member, Consumer):
        await member.heartbeat()
    else:
        await member.step()


class Crowd:
    """Members that act side by side: who waits for the others keeps nobody from acting."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._timers = coordinator.timers
        self._acting: dict[Consumer | ClassicConsumer, asyncio.Task[None]] = {}

    async def turn(self, members: Sequence[Consumer | ClassicConsumer]) -> None:
        for each in members:
            if each not in self._acting:
                self._acting[each] = asyncio.create_task(beat(each))
        await settle()
        self._timers.advance(1)
        await settle()
        for each, task in list(self._acting.items()):
            if task.done():
                task.result()
                del self._acting[each]
        owned = [index for each in members for index in each.owned]
        assert len(owned) == len(set(owned)), "a partition has two owners"

    async def end(self) -> None:
        for task in self._acting.values():
            task.cancel()
        await asyncio.gather(*self._acting.values(), return_exceptions=True)


async def settle_down(c: Coordinator, *members: Consumer | ClassicConsumer) -> None:
    """All go on until they have everything between them, and nothing twice at any time."""
    crowd = Crowd(c)
    for _ in range(14):
        await crowd.turn(members)
    await crowd.end()
    assert sorted(index for each in members for index in each.owned) == list(range(PARTITIONS))
    sizes = sorted(len(each.owned) for each in members)
    assert sizes[-1] - sizes[0] <= 1


@pytest.mark.parametrize("is_eager", [False, True])
@pytest.mark.parametrize("restarts", [False, True])
def test_members_change_over_one_by_one_and_back(is_eager: bool, restarts: bool) -> None:
    async def body(c: Coordinator) -> None:
        async def go_on(*members: Consumer | ClassicConsumer) -> None:
            await settle_down(c, *members)
            if restarts:
                await c.restart()
                await settle_down(c, *members)

        a, b = (ClassicConsumer(c, name, is_eager=is_eager) for name in "ab")
        await go_on(a, b)
        assert await listed(c) == [("g", "classic", "Stable")]
        x = Consumer(c, "x")
        assert await x.heartbeat() == "NONE"
        assert (await listed(c))[0][1] == "consumer"
        await go_on(a, b, x)
        await a.leave()
        y = Consumer(c, "y")
        await go_on(b, x, y)
        await b.leave()
        await go_on(x, y)
        assert await listed(c) == [("g", "consumer", "Stable")]
        d = ClassicConsumer(c, "d", is_eager=is_eager)
        await go_on(x, y, d)
        await x.leave()
        await go_on(y, d)
        assert (await listed(c))[0][1] == "consumer"
        await y.leave()
        await c.groups.loaded()
        e = ClassicConsumer(c, "e", is_eager=is_eager)
        await go_on(d, e)
        assert await listed(c) == [("g", "classic", "Stable")]

    run(body, settings=SOON)


def test_who_waits_for_a_rebalance_is_to_join_the_new_group() -> None:
    async def body(c: Coordinator) -> None:
        a, b = ClassicConsumer(c, "a"), ClassicConsumer(c, "b")
        await settle_down(c, a)
        waiting = asyncio.create_task(b.join())  # for a, which does not come
        for _ in range(5):
            await asyncio.sleep(0)
        x = Consumer(c, "x")
        assert await x.heartbeat() == "NONE"
        assert await waiting == "REBALANCE_IN_PROGRESS"
        await settle_down(c, a, b, x)

    run(body, settings=SOON)


@pytest.mark.parametrize(
    ("policy", "may_upgrade"),
    [
        (MigrationPolicy.DISABLED, False),
        (MigrationPolicy.DOWNGRADE, False),
        (MigrationPolicy.UPGRADE, True),
        (MigrationPolicy.BIDIRECTIONAL, True),
    ],
)
def test_the_policy_says_which_way_a_group_may_go(
    policy: MigrationPolicy, may_upgrade: bool
) -> None:
    async def body(c: Coordinator) -> None:
        a, x = ClassicConsumer(c, "a"), Consumer(c, "x")
        await settle_down(c, a)
        assert await x.heartbeat() == ("NONE" if may_upgrade else "GROUP_ID_NOT_FOUND")
        if may_upgrade:
            await x.leave()
            c.timers.advance(1)
            await settle()
            kind = "classic" if policy.can_downgrade else "consumer"
            assert (await listed(c))[0][1] == kind
            assert await a.step() == "REBALANCE_IN_PROGRESS"  # nothing of its own is lost
            await settle_down(c, a)

    run(body, settings=GroupSettings(initial_rebalance_delay_ms=0, migration_policy=policy))


def test_a_classic_member_is_bound_to_its_generation() -> None:
    async def body(c: Coordinator) -> None:
        a, x = ClassicConsumer(c, "a"), Consumer(c, "x")
        await settle_down(c, a)
        await settle_down(c, a, x)
        assert await commit(c, a.member_id, a.generation) == 0
        assert await commit(c, a.member_id, a.generation - 1) == ErrorCode.ILLEGAL_GENERATION
        a.generation -= 1
        assert await a.step() == "ILLEGAL_GENERATION"
        answer = await c.groups.describe_consumer_groups(
            ConsumerGroupDescribeRequest(group_ids=["g"], include_authorized_operations=False),
            a.client,
        )
        types = {each.member_id: each.member_type for each in answer.groups[0].members}
        assert types == {a.member_id: 0, "x": 1}

    run(body, settings=SOON)


def test_a_classic_member_that_falls_silent_or_does_not_come_is_out() -> None:
    async def body(c: Coordinator) -> None:
        a, b, x = ClassicConsumer(c, "a"), ClassicConsumer(c, "b"), Consumer(c, "x")
        await settle_down(c, a, b)
        await settle_down(c, a, b, x)
        for _ in range(2):
            c.timers.advance(5_000)
            await b.step()  # within a's session of ten seconds
        await settle_down(c, b, x)
        await x.heartbeat(subscribed_topic_names=["t", "u"])
        for _ in range(4):  # b is told to join again, and does not
            b.is_joining = False
            await b.step()
            await x.heartbeat(subscribed_topic_names=["t", "u"])
            c.timers.advance(9_000)
        b.is_joining = False
        assert await b.step() == "UNKNOWN_MEMBER_ID"

    run(body, settings=SOON)


def test_an_instance_changes_its_protocol_and_keeps_its_place() -> None:
    async def body(c: Coordinator) -> None:
        a = ClassicConsumer(c, "a", instance_id="one")
        b = ClassicConsumer(c, "b", instance_id="two")
        await settle_down(c, a, b)
        before = set(a.owned)
        x = Consumer(c, "x", instance_id="one")
        await x.heartbeat()
        assert x.owned == before
        assert await a.step() == "FENCED_INSTANCE_ID"
        await settle_down(c, b, x)
        again = ClassicConsumer(c, "again", instance_id="one")
        await settle_down(c, b, again)
        assert (await listed(c))[0][1] == "classic"

    run(body, settings=SOON)


@pytest.mark.parametrize("seed", range(6))
def test_any_mixture_in_any_order_shares_all_partitions_and_none_twice(seed: int) -> None:
    async def body(c: Coordinator) -> None:
        rng = Random(seed)
        members: list[Consumer | ClassicConsumer] = [Consumer(c, "first")]
        crowd = Crowd(c)
        for number in range(40):
            action = rng.random()
            if action < 0.15 and len(members) < 5:
                kinds = (Consumer(c, f"m{number}"), ClassicConsumer(c, f"m{number}"))
                members.append(rng.choice(kinds))
            elif action < 0.25 and len(members) > 1:
                await members.pop(rng.randrange(len(members))).leave()
            elif action < 0.3:
                await c.restart()
            turn = rng.sample(members, len(members))
            await crowd.turn(turn)
        await crowd.end()
        await settle_down(c, *members)

    run(body, settings=SOON)
