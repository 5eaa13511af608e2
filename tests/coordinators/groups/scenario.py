"""A group coordinator on one partition, and members that write a transcript of what they see.

    > a joins
    a: MEMBER_ID_REQUIRED
    > +3000 ms
    a: joined generation 1 as leader of a

Ids read as the names of those who got them.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from random import Random
from typing import Any

from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.hosted import HostSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.heartbeat import HeartbeatRequest
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from snakka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.coordinators.fakes import FakeLog, FakeTimers, settle

GROUP = "g"
NAMES = {each.value: each.name for each in ErrorCode}


class Scenario:
    """One coordinator and its members."""

    def __init__(self, settings: GroupSettings, *, commits_at_once: bool = True) -> None:
        self.timers = FakeTimers()
        self.groups = Groups(settings, HostSettings(), lambda: 1, self.timers, Random(7))
        self.log = FakeLog(commits_at_once=commits_at_once)
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.lines: list[str] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self.groups.on_partition_led(0, self.log, self.log.leader_epoch)
        await self.groups.loaded()

    async def restart(self) -> None:
        """Another broker leads the partition, and this is it."""
        self.log.leader_epoch += 1
        self.lines.append("> failover")
        await self.start()
        await settle()

    async def advance(self, by_ms: int) -> None:
        self.lines.append(f"> +{by_ms} ms")
        self.timers.advance(by_ms)
        await settle()

    async def commit(self) -> None:
        self.lines.append("> replicated")
        self.log.commit()
        await settle()

    async def join(
        self,
        name: str,
        *,
        protocols: str = "range",
        instance: str | None = None,
        version: int = 9,
        forget_id: bool = False,
        protocol_type: str = "consumer",
        session_timeout_ms: int = 10_000,
        rebalance_timeout_ms: int = 60_000,
    ) -> None:
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=rebalance_timeout_ms,
            member_id="" if forget_id else self.ids.get(name, ""),
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[
                JoinGroupRequestProtocol(name=each.partition(":")[0], metadata=each.encode())
                for each in protocols.split()
            ],
        )
        await self._do(f"{name} joins", self._join(name, request, version))

    async def enter(self, *names: str, **options: Any) -> None:
        """Each joins with the id that it is given first."""
        for name in names:
            await self.join(name, **options)
            await self.join(name, **options)

    async def sync(self, name: str, **work: str) -> None:
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generations.get(name, -1),
            member_id=self.ids[name],
            assignments=[
                SyncGroupRequestAssignment(member_id=self.ids[each], assignment=value.encode())
                for each, value in work.items()
            ],
        )
        await self._do(f"{name} syncs", self._sync(name, request))

    async def heartbeat(self, name: str, *, instance: str | None = None) -> None:
        request = HeartbeatRequest(
            group_id=GROUP,
            generation_id=self.generations.get(name, -1),
            member_id=self.ids[name],
            group_instance_id=instance,
        )
        await self._do(f"{name} heartbeats", self._heartbeat(name, request))

    async def leave(self, name: str, *, instance: str | None = None) -> None:
        member_id = "" if instance else self.ids[name]
        member = MemberIdentity(member_id=member_id, group_instance_id=instance)
        request = LeaveGroupRequest(group_id=GROUP, members=[member])
        await self._do(f"{name} leaves", self._leave(name, request))

    def client(self, name: str, version: int = 5) -> ClientInfo:
        return ClientInfo(name, "127.0.0.1", version)

    @property
    def transcript(self) -> str:
        text = "\n".join(self.lines)
        return re.sub(r"-[0-9a-f]{8}-[0-9a-f-]{27}", "", text)

    async def _do(self, line: str, coroutine: Coroutine[Any, Any, None]) -> None:
        self.lines.append(f"> {line}")
        self._tasks.append(asyncio.get_running_loop().create_task(coroutine))
        await settle()

    def _say(self, name: str, what: str) -> None:
        self.lines.append(f"{name}: {what}")

    async def _join(self, name: str, request: JoinGroupRequest, version: int) -> None:
        response = await self.groups.join_group(request, self.client(name, version))
        if response.error_code != 0:
            if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.ids[name] = response.member_id
            self._say(name, NAMES[response.error_code])
            return
        self.ids[name] = response.member_id
        self.generations[name] = response.generation_id
        members = " ".join(each.member_id for each in response.members)
        role = f" as leader of {members}" if members else ""
        skips = ", nothing to assign" if response.skip_assignment else ""
        self._say(
            name,
            f"joined generation {response.generation_id} ({response.protocol_name}){role}{skips}",
        )

    async def _sync(self, name: str, request: SyncGroupRequest) -> None:
        response = await self.groups.sync_group(request, self.client(name))
        if response.error_code != 0:
            self._say(name, NAMES[response.error_code])
        else:
            self._say(name, f"works on {bytes(response.assignment).decode() or 'nothing'}")

    async def _heartbeat(self, name: str, request: HeartbeatRequest) -> None:
        response = await self.groups.heartbeat(request, self.client(name))
        self._say(name, NAMES[response.error_code])

    async def _leave(self, name: str, request: LeaveGroupRequest) -> None:
        response = await self.groups.leave_group(request, self.client(name))
        code = response.error_code or response.members[0].error_code
        self._say(name, f"left, {NAMES[code]}")

    async def finish(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


Play = Callable[[Scenario], Awaitable[None]]


def play(body: Play, *, commits_at_once: bool = True, **settings: Any) -> str:
    """The transcript of a scenario."""

    async def main() -> str:
        configured = replace(GroupSettings(), **settings)
        scenario = Scenario(configured, commits_at_once=commits_at_once)
        async with scenario.groups:
            await scenario.start()
            await body(scenario)
            await scenario.finish()
        return scenario.transcript

    return asyncio.run(main())


def shown(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


async def two_members(s: Scenario) -> None:
    await s.enter("a", "b")
    await s.advance(6_000)
    await s.sync("b")
    await s.sync("a", a="p0", b="p1")


async def two_static_members(s: Scenario) -> None:
    await s.join("a", instance="ia")
    await s.join("b", instance="ib")
    await s.advance(6_000)
    await s.sync("b")
    await s.sync("a", a="p0", b="p1")


def play_after(first: Play, body: Play, **options: Any) -> str:
    """What happens once a group has work."""

    async def whole(s: Scenario) -> None:
        await first(s)
        s.lines.clear()
        await body(s)

    return play(whole, **options)
