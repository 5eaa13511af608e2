"""Consumer groups through the coordinator: joining, moving partitions, fencing, failing over."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest

from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.hosted import HostSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.coordinators.fakes import FakeLog, FakeTimers, settle
from tests.coordinators.groups.consumer.topics import FakeTopics, topic_id

NAMES = {each.value: each.name for each in ErrorCode}


class Coordinator:
    def __init__(self, seed: int = 3, settings: GroupSettings | None = None) -> None:
        self.topics = FakeTopics()
        self.topics.put("t", 6)
        self.log = FakeLog()
        self.timers = FakeTimers()
        self.groups = Groups(
            settings or GroupSettings(),
            HostSettings(),
            lambda: 1,
            self.timers,
            Random(seed),
            self.topics,
        )

    async def restart(self) -> None:
        self.log.leader_epoch += 1
        self.groups.on_partition_led(0, self.log, self.log.leader_epoch)
        await self.groups.loaded()


class Consumer:
    """A client that gives up what it is told to with its next heartbeat."""

    def __init__(
        self, coordinator: Coordinator, member_id: str, instance_id: str | None = None
    ) -> None:
        self.groups = coordinator.groups
        self.member_id = member_id
        self.instance_id = instance_id
        self.epoch = 0
        self.owned: set[int] = set()
        self.wanted: set[int] = set()
        self.in_flight = False

    async def heartbeat(self, **changes: Any) -> str:
        request = self.request(**changes)
        response = await self.groups.consumer_group_heartbeat(
            request, ClientInfo(self.member_id, "127.0.0.1", 1)
        )
        self.take(response)
        return NAMES[response.error_code]

    def request(self, **changes: Any) -> ConsumerGroupHeartbeatRequest:
        owned = [TopicPartitions(topic_id=topic_id("t"), partitions=sorted(self.owned))]
        fields: dict[str, Any] = {
            "group_id": "g",
            "member_id": self.member_id,
            "member_epoch": self.epoch,
            "instance_id": self.instance_id,
            "rebalance_timeout_ms": 30_000,
            "subscribed_topic_names": ["t"],
            "topic_partitions": owned if self.owned else [],
        }
        return ConsumerGroupHeartbeatRequest(**{**fields, **changes})

    def take(self, response: ConsumerGroupHeartbeatResponse) -> None:
        code = response.error_code
        if code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.epoch, self.owned, self.wanted = 0, set(), set()
        if code:
            return
        self.epoch = response.member_epoch
        if response.assignment is not None:
            topics = response.assignment.topic_partitions
            self.wanted = {index for each in topics for index in each.partitions}
        # Nothing new is taken in the heartbeat that gives something up.
        self.owned = self.wanted & self.owned if self.owned - self.wanted else set(self.wanted)

    async def leave(self, epoch: int = -1) -> str:
        response = await self.groups.consumer_group_heartbeat(
            self.request(member_epoch=epoch), ClientInfo(self.member_id, "127.0.0.1", 1)
        )
        return NAMES[response.error_code]


def run(
    body: Callable[[Coordinator], Awaitable[None]],
    seed: int = 3,
    settings: GroupSettings | None = None,
) -> None:
    async def main() -> None:
        coordinator = Coordinator(seed, settings)
        async with coordinator.groups:
            await coordinator.restart()
            await body(coordinator)

    asyncio.run(main())


def test_partitions_move_once_they_are_given_up() -> None:  # pitfall 29
    async def body(c: Coordinator) -> None:
        a, b = Consumer(c, "a"), Consumer(c, "b")
        assert await a.heartbeat() == "NONE"
        assert (a.epoch, a.owned) == (1, set(range(6)))
        await b.heartbeat()
        assert (b.epoch, b.owned) == (2, set())
        await a.heartbeat()
        assert (a.epoch, len(a.owned)) == (1, 3)
        await c.restart()
        await b.heartbeat()
        assert b.owned == set()
        await a.heartbeat()
        await b.heartbeat()
        assert (a.epoch, b.epoch) == (2, 2)
        assert (len(a.owned), a.owned | b.owned) == (3, set(range(6)))

    run(body)


def test_what_a_member_leaves_goes_to_the_others() -> None:
    async def body(c: Coordinator) -> None:
        a, b = Consumer(c, "a"), Consumer(c, "b")
        for each in (a, b, a, a, b):
            await each.heartbeat()
        assert await b.leave() == "NONE"
        assert await b.heartbeat() == "UNKNOWN_MEMBER_ID"
        await a.heartbeat()
        assert a.owned == set(range(6))

    run(body)


def test_a_member_that_falls_silent_is_out() -> None:
    async def body(c: Coordinator) -> None:
        a, b = Consumer(c, "a"), Consumer(c, "b")
        for each in (a, b, a, a, b):
            await each.heartbeat()
        c.timers.advance(44_000)
        await a.heartbeat()
        c.timers.advance(1_000)
        assert await b.heartbeat() == "UNKNOWN_MEMBER_ID"

    run(body)


def test_a_member_that_gives_nothing_up_is_out() -> None:
    async def body(c: Coordinator) -> None:
        a, b = Consumer(c, "a"), Consumer(c, "b")
        await a.heartbeat()
        await b.heartbeat()
        for _ in range(3):
            a.owned = set(range(6))
            assert await a.heartbeat() == "NONE"
            c.timers.advance(14_999)
        c.timers.advance(3)
        assert await a.heartbeat() == "UNKNOWN_MEMBER_ID"

    run(body)


def test_new_partitions_are_handed_out() -> None:
    async def body(c: Coordinator) -> None:
        a = Consumer(c, "a")
        await a.heartbeat()
        c.topics.put("t", 8)
        await a.heartbeat(subscribed_topic_names=None, rebalance_timeout_ms=-1)
        assert (a.epoch, a.owned) == (2, set(range(8)))

    run(body)


def test_epochs_fence() -> None:
    async def body(c: Coordinator) -> None:
        a = Consumer(c, "a")
        assert await a.heartbeat(member_epoch=4) == "GROUP_ID_NOT_FOUND"
        await a.heartbeat()
        assert await a.heartbeat(member_epoch=4) == "FENCED_MEMBER_EPOCH"
        assert await Consumer(c, "b").heartbeat(member_epoch=1) == "UNKNOWN_MEMBER_ID"

    run(body)


def test_a_lost_answer_is_no_reason_to_be_fenced() -> None:
    async def body(c: Coordinator) -> None:
        a = Consumer(c, "a")
        await a.heartbeat()
        c.topics.put("t", 8)
        lost = a.request()
        await a.groups.consumer_group_heartbeat(lost, ClientInfo("a", "h", 1))
        assert await a.heartbeat() == "NONE"
        assert (a.epoch, len(a.owned)) == (2, 8)

    run(body)


def test_a_static_member_gets_its_partitions_back() -> None:
    async def body(c: Coordinator) -> None:
        a, b = Consumer(c, "a", "ia"), Consumer(c, "b", "ib")
        for each in (a, b, a, a, b):
            await each.heartbeat()
        assert await Consumer(c, "b2", "ib").heartbeat() == "UNRELEASED_INSTANCE_ID"
        assert await b.leave(-2) == "NONE"
        await c.restart()
        again = Consumer(c, "b2", "ib")
        assert await again.heartbeat() == "NONE"
        assert (again.epoch, again.owned) == (b.epoch, b.owned)
        assert await b.heartbeat() == "FENCED_INSTANCE_ID"

    run(body)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group_id": ""}, "INVALID_REQUEST"),
        ({"rebalance_timeout_ms": -1}, "INVALID_REQUEST"),
        ({"subscribed_topic_names": None}, "INVALID_REQUEST"),
        ({"member_id": ""}, "INVALID_REQUEST"),
        ({"subscribed_topic_regex": "("}, "INVALID_REGULAR_EXPRESSION"),
        ({"topic_partitions": None}, "INVALID_REQUEST"),
        ({"member_epoch": -3}, "INVALID_REQUEST"),
        ({"server_assignor": "best"}, "UNSUPPORTED_ASSIGNOR"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], error: str) -> None:
    async def body(c: Coordinator) -> None:
        assert await Consumer(c, "a").heartbeat(**changes) == error

    run(body)


@pytest.mark.parametrize("seed", range(20))
def test_no_partition_has_two_owners_at_any_moment(seed: int) -> None:  # pitfall 29
    async def body(c: Coordinator) -> None:
        random = Random(seed)
        consumers = {name: Consumer(c, name) for name in "abcde"}
        live = {"a"}
        for _ in range(300):
            name = random.choice("abcde")
            roll = random.random()
            if roll < 0.03 and name in live and len(live) > 1:
                live.discard(name)
                await consumers[name].leave()
                consumers[name] = Consumer(c, name)
            elif roll < 0.06:
                await c.restart()
            elif roll < 0.1:
                live.add(name)
            if name in live:
                await consumers[name].heartbeat()
            c.timers.advance(random.choice([10, 500]))
            await settle()
            owned = [each for name in live for each in consumers[name].owned]
            assert len(owned) == len(set(owned))
        for _ in range(6):
            for name in sorted(live):
                await consumers[name].heartbeat()
        sizes = [len(consumers[name].owned) for name in live]
        assert sum(sizes) == 6
        assert max(sizes) - min(sizes) <= 1

    run(body, seed)
