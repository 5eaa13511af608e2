"""Requests about offsets in few words."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Any

from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.hosted import HostSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponsePartitions,
)
from snakka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.coordinators.fakes import FakeLog, FakeTimers

NAMES = {each.value: each.name for each in ErrorCode}


class Asking:
    """A coordinator on one partition, and a client that asks it about offsets of one topic."""

    def __init__(self, settings: GroupSettings, *, commits_at_once: bool = True) -> None:
        self.timers = FakeTimers()
        self.log = FakeLog(commits_at_once=commits_at_once)
        self.groups = Groups(settings, HostSettings(), lambda: 1, self.timers, Random(1))

    async def start(self) -> None:
        self.groups.on_partition_led(0, self.log, self.log.leader_epoch)
        await self.groups.loaded()

    async def restart(self) -> None:
        self.log.leader_epoch += 1
        await self.start()

    async def commit(
        self,
        offset: int,
        group: str = "g",
        *,
        index: int = 0,
        topic: str = "t",
        metadata: str | None = "",
        leader_epoch: int = -1,
        generation: int = -1,
        member_id: str = "",
        instance_id: str | None = None,
        retention_time_ms: int = -1,
        version: int = 9,
    ) -> str:
        partition = OffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=offset,
            committed_leader_epoch=leader_epoch,
            committed_metadata=metadata,
        )
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            group_instance_id=instance_id,
            retention_time_ms=retention_time_ms,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=[partition])],
        )
        response = await self.groups.commit_offsets(request, client(version))
        return NAMES[response.topics[0].partitions[0].error_code]

    async def commit_in_transaction(
        self, offset: int, *, producer_id: int = 9, generation: int = -1, group: str = "g"
    ) -> str:
        partition = TxnOffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata="txn"
        )
        request = TxnOffsetCommitRequest(
            transactional_id="x",
            group_id=group,
            producer_id=producer_id,
            producer_epoch=0,
            generation_id=generation,
            topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[partition])],
        )
        response = await self.groups.commit_offsets_in_transaction(request, client(3))
        return NAMES[response.topics[0].partitions[0].error_code]

    async def fetch(
        self, group: str = "g", *, index: int = 0, topic: str = "t", require_stable: bool = False
    ) -> tuple[int, int, str | None, str]:
        asked = OffsetFetchRequestTopics(name=topic, partition_indexes=[index])
        found = await self._fetch(group, [asked], require_stable)
        (each,) = found[topic]
        name = NAMES[each.error_code]
        return each.committed_offset, each.committed_leader_epoch, each.metadata, name

    async def fetch_all(self, group: str = "g") -> dict[str, dict[int, int]]:
        found = await self._fetch(group, None, False)
        return {
            topic: {each.partition_index: each.committed_offset for each in partitions}
            for topic, partitions in found.items()
        }

    async def _fetch(
        self, group: str, topics: list[OffsetFetchRequestTopics] | None, require_stable: bool
    ) -> dict[str, list[OffsetFetchResponsePartitions]]:
        request = OffsetFetchRequest(
            group_id="",
            topics=None,
            groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)],
            require_stable=require_stable,
        )
        response = await self.groups.fetch_offsets(request, client(9))
        assert response.groups[0].error_code == 0
        return {each.name: each.partitions for each in response.groups[0].topics}


def client(version: int) -> ClientInfo:
    return ClientInfo("c", "127.0.0.1", version)


def ask(
    body: Callable[[Asking], Awaitable[None]], *, commits_at_once: bool = True, **settings: Any
) -> None:
    async def main() -> None:
        configured = replace(GroupSettings(), **settings)
        asking = Asking(configured, commits_at_once=commits_at_once)
        async with asking.groups:
            await asking.start()
            await body(asking)

    asyncio.run(main())
