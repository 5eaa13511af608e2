"""Members that come, go and crash, and coordinators that fail over and forget what is uncommitted.

After every step no two members own the same thing in the same generation. Once the trouble is over
all members soon share the work of one generation. A failing seed replays.
"""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.hosted import HostSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.heartbeat import HeartbeatRequest
from snakka.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from snakka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.coordinators.fakes import FakeLog, FakeTimers, settle

WORK = frozenset(range(12))
LOST_IDENTITY = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.FENCED_INSTANCE_ID,
)


class Consumer:
    """A client as real ones behave: it gives up its work before it joins again."""

    def __init__(self, name: str, groups: Groups, timers: FakeTimers, *, is_static: bool) -> None:
        self.name = name
        self.instance_id = name if is_static else None
        self.member_id = ""
        self.generation = -1
        self.work: frozenset[int] = frozenset()
        self._groups = groups
        self._timers = timers
        self._client = ClientInfo(name, "127.0.0.1", 9)
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def crash(self) -> None:
        self.work = frozenset()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def leave(self) -> None:
        await self.crash()
        member = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        request = LeaveGroupRequest(group_id="g", members=[member])
        await asyncio.wait_for(self._groups.leave_group(request, self._client), 1)

    async def _run(self) -> None:
        while True:
            joined = await self._join()
            if joined.error_code == 0:
                await self._take_part(joined)
            elif joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = joined.member_id
            else:
                await self._recover(joined.error_code)

    async def _join(self) -> JoinGroupResponse:
        self.work = frozenset()
        request = JoinGroupRequest(
            group_id="g",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        return await self._groups.join_group(request, self._client)

    async def _take_part(self, joined: JoinGroupResponse) -> None:
        self.member_id, self.generation = joined.member_id, joined.generation_id
        ids = [] if joined.skip_assignment else [each.member_id for each in joined.members]
        request = SyncGroupRequest(
            group_id="g",
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            assignments=[
                SyncGroupRequestAssignment(
                    member_id=each, assignment=bytes(sorted(WORK)[index :: len(ids)])
                )
                for index, each in enumerate(ids)
            ],
        )
        synced = await self._groups.sync_group(request, self._client)
        code = synced.error_code
        if code == 0:
            self.work = frozenset(synced.assignment)
        while code == 0:
            await self._sleep(3_000)
            code = await self._heartbeat()
        await self._recover(code)

    async def _heartbeat(self) -> int:
        request = HeartbeatRequest(
            group_id="g",
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        response = await self._groups.heartbeat(request, self._client)
        return response.error_code

    async def _recover(self, code: int) -> None:
        if code in LOST_IDENTITY:
            self.member_id = ""
        if code != ErrorCode.REBALANCE_IN_PROGRESS:
            self.work = frozenset()
            await self._sleep(100)

    async def _sleep(self, delay_ms: int) -> None:
        woken = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        self._timers.call_later(delay_ms, wake)
        await woken


class Trouble:
    """One run of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.timers = FakeTimers()
        self.log = FakeLog(commits_at_once=False)
        settings = GroupSettings(initial_rebalance_delay_ms=500)
        self.groups = Groups(settings, HostSettings(), lambda: 1, self.timers, self.random)
        self.consumers: dict[str, Consumer] = {}
        self.started = 0

    async def step(self) -> None:
        event = self.random.choices(
            [self.start, self.crash, self.leave, self.fail_over, self.refuse, self.pass_time],
            weights=[4, 2, 1, 3, 1, 12],
        )[0]
        await event()
        if self.random.random() < 0.5:
            self.log.commit()
        await self.pass_time()
        self.check()

    async def start(self) -> None:
        if len(self.consumers) < 8:
            self.started += 1
            is_static = self.random.random() < 0.3
            name = f"s{self.random.randrange(3)}" if is_static else f"c{self.started}"
            if name not in self.consumers:
                self.consumers[name] = Consumer(name, self.groups, self.timers, is_static=is_static)

    async def crash(self) -> None:
        if self.consumers:
            await self.consumers.pop(self.random.choice(sorted(self.consumers))).crash()

    async def leave(self) -> None:
        if self.consumers and self.log.high_watermark == self.log.end_offset:
            self.log.commits_at_once = True
            await self.consumers.pop(self.random.choice(sorted(self.consumers))).leave()
            self.log.commits_at_once = False

    async def fail_over(self) -> None:
        """The new leader may lack what was not committed."""
        if self.random.random() < 0.8:
            while self.log.end_offset > self.log.high_watermark:
                self.log.batches.pop()
        self.log.leader_epoch += 1
        self.log.refusal = None
        self.groups.on_partition_led(0, self.log, self.log.leader_epoch)
        await self.groups.loaded()

    async def refuse(self) -> None:
        refusals = [None, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER]
        self.log.refusal = self.random.choice(refusals)

    async def pass_time(self) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.timers.advance(self.random.choice([10, 100, 1_000, 3_000]))
            await settle()

    def check(self) -> None:
        owners: dict[tuple[int, int], str] = {}
        for consumer in self.consumers.values():
            for each in consumer.work:
                owner = owners.setdefault((consumer.generation, each), consumer.name)
                assert owner == consumer.name

    async def calm_down(self) -> None:
        self.log.refusal = None
        self.log.commits_at_once = True
        await self.start()
        await self.fail_over()
        self.log.commit()
        for _ in range(200):
            self.timers.advance(500)
            await settle()
            self.check()


def run(seed: int, check: Callable[[Trouble], None]) -> None:
    async def main() -> None:
        trouble = Trouble(seed)
        async with trouble.groups:
            await trouble.fail_over()
            for _ in range(60):
                await trouble.step()
            await trouble.calm_down()
            check(trouble)
            for consumer in list(trouble.consumers.values()):
                await consumer.crash()

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(80))
def test_the_work_is_shared_once_the_trouble_is_over(seed: int) -> None:
    def check(trouble: Trouble) -> None:
        consumers = list(trouble.consumers.values())
        assert len({each.generation for each in consumers}) == 1
        assert sorted(work for each in consumers for work in each.work) == sorted(WORK)
        assert all(each.work for each in consumers)

    run(seed, check)
