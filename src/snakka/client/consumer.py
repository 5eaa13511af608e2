"""A consumer: records of partitions that are assigned by hand or by a group.

    async with Cluster("localhost:9092") as cluster, Consumer(cluster, settings) as consumer:
        consumer.subscribe(["topic"])
        async for record in consumer:
            ...

Groups are those of KIP-848. What a group takes away or gives is taken over between two records, so
a record that is being handled is never committed by the consumer itself, and never of a partition
that somebody else has got meanwhile. Truncated logs (KIP-320) and nearest replicas (KIP-392) are
not looked for.

Not here: fetching (fetcher.py), heartbeats (group.py), decoding (fetched.py).
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Final, TypeVar

from snakka.client.cluster import Cluster
from snakka.client.committed import commit_offsets, fetch_offsets
from snakka.client.consumer_settings import ConsumerSettings
from snakka.client.errors import KafkaError
from snakka.client.fetch_session import FetchSettings
from snakka.client.fetched import Fetched
from snakka.client.fetcher import Fetcher
from snakka.client.group import Group
from snakka.client.membership import MemberSettings, Membership, Subscription
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.reading import Placement
from snakka.client.records import ConsumedRecord, TopicPartition
from snakka.client.resetting import NoPositionError, reset_positions
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.types import Uuid, format_uuid, random_uuid

_T = TypeVar("_T")

_STALE_EPOCH_TRIES: Final = 5


DEFAULT: Final = ConsumerSettings()


Rebalanced = Callable[[Collection[TopicPartition]], Awaitable[None]]


async def _ignore(_: Collection[TopicPartition]) -> None:
    pass


class Consumer:
    """An async context manager; left well, it commits as it was told to, and leaves its group."""

    def __init__(self, cluster: Cluster, settings: ConsumerSettings = DEFAULT) -> None:
        self._cluster = cluster
        self._settings = settings
        fetching = FetchSettings(
            settings.fetch_min_bytes,
            settings.fetch_max_bytes,
            settings.max_partition_fetch_bytes,
            settings.fetch_max_wait_ms,
            settings.isolation_level,
            settings.check_crcs,
            settings.client_rack,
        )
        self._fetcher = Fetcher(cluster, fetching, self._place)
        self._group: Group | None = None
        self._on_assigned: Rebalanced = _ignore
        self._on_revoked: Rebalanced = _ignore
        self._unfinished: tuple[Fetched, Iterator[ConsumedRecord]] | None = None
        self._commit_at_s = 0.0

    async def __aenter__(self) -> "Consumer":
        self._fetcher.start()
        self._commit_at_s = self._next_commit_s()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._fetcher.close()
        try:
            if kind is None and self._commits_by_itself:
                await self.commit()
        finally:
            if self._group is not None:
                await self._group.leave()

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset(self._fetcher.readings)

    @property
    def member(self) -> GroupMember:
        """Who commits, also for a producer that commits in a transaction."""
        if self._group is not None:
            return self._group.member
        if self._settings.group_id is None:
            raise NoPositionError("there is no group_id to commit for")
        return GroupMember(self._settings.group_id)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Reads these from now on, without asking a group."""
        if self._group is not None:
            raise ValueError("partitions of a subscription are assigned by its group")
        self._fetcher.assign(list(partitions))

    def subscribe(
        self,
        topics: Iterable[str] = (),
        *,
        regex: str | None = None,
        on_assigned: Rebalanced = _ignore,
        on_revoked: Rebalanced = _ignore,
    ) -> None:
        """Joins the group, which assigns partitions of topics by name or by a RE2 expression."""
        settings = self._settings
        if settings.group_id is None or self._group is not None:
            raise ValueError("a consumer subscribes once, and with a group_id")
        self._on_assigned, self._on_revoked = on_assigned, on_revoked
        member = MemberSettings(
            settings.group_id,
            settings.group_instance_id,
            settings.client_rack or None,
            settings.max_poll_interval_ms,
            settings.group_remote_assignor,
        )
        member_id = format_uuid(random_uuid(self._cluster.rng))
        self._group = Group(
            self._cluster,
            Membership(member, Subscription(tuple(topics), regex), member_id),
            settings.group_id,
            settings.group_instance_id,
            self._fetcher.interrupt,
        )
        self._group.start()

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Goes on at an offset."""
        self._fetcher.readings[partition].seek(offset)
        self._fetcher.wake()

    def position(self, partition: TopicPartition) -> int | None:
        """The next offset that will be read, once that is known."""
        reading = self._fetcher.readings[partition]
        return reading.position if reading.is_placed else None

    def high_watermark(self, partition: TopicPartition) -> int | None:
        """The end of the log for consumers, as the last fetch told it."""
        known = self._fetcher.readings[partition].high_watermark
        return known if known >= 0 else None

    def pause(self, *partitions: TopicPartition) -> None:
        for each in partitions:
            self._fetcher.readings[each].is_paused = True

    def resume(self, *partitions: TopicPartition) -> None:
        for each in partitions:
            self._fetcher.readings[each].is_paused = False
        self._fetcher.wake()
        self._fetcher.interrupt()

    async def poll(self, timeout_ms: int | None = None) -> list[Fetched]:
        """What was fetched, at least of one partition; nothing where the time runs out first."""
        timeout_s = None if timeout_ms is None else timeout_ms / 1000
        taken: list[Fetched] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                taken.append(await self._next())
        while taken and (more := self._fetcher.take()) is not None:
            taken.append(more)
        for each in taken:
            self._fetcher.readings[each.partition].position = each.next_offset
        return taken

    async def __aiter__(self) -> AsyncIterator[ConsumedRecord]:
        """Every record, without end; whoever stops may go on later, with this or with `poll`."""
        while True:
            if self._unfinished is None:
                fetched = await self._next()
                self._unfinished = (fetched, fetched.records())
            fetched, records = self._unfinished
            reading = self._fetcher.readings.get(fetched.partition)
            if reading is None or not self._fetcher.is_current(fetched):
                self._unfinished = None
                continue
            for record in records:
                reading.position = record.offset + 1
                reading.leader_epoch = record.leader_epoch
                yield record
                if self._group is not None and self._group.has_news:
                    await self._reconcile()
                if not self._fetcher.is_current(fetched):
                    break
            else:
                reading.position = fetched.next_offset
            self._unfinished = None

    async def commit(self, offsets: Mapping[TopicPartition, CommittedOffset] | None = None) -> None:
        """Stores these positions, or those after the last records that were handed out."""
        wanted = self.positions() if offsets is None else offsets
        if wanted:
            await self._as_member(lambda member: commit_offsets(self._cluster, member, wanted))

    def positions(self) -> dict[TopicPartition, CommittedOffset]:
        """Where each partition is, as it would be committed."""
        return {
            partition: CommittedOffset(reading.position, reading.leader_epoch)
            for partition, reading in self._fetcher.readings.items()
            if reading.is_placed
        }

    async def committed(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, CommittedOffset]:
        """The group's positions; partitions without one are left out."""
        wanted = list(partitions)
        return await self._as_member(lambda member: fetch_offsets(self._cluster, member, wanted))

    @property
    def _commits_by_itself(self) -> bool:
        return self._settings.enable_auto_commit and self._settings.group_id is not None

    def _next_commit_s(self) -> float:
        interval_s = self._settings.auto_commit_interval_ms / 1000
        return asyncio.get_running_loop().time() + interval_s

    async def _next(self) -> Fetched:
        """What was fetched first; before it, what has become due since the last call is done."""
        while True:
            if self._group is not None and self._group.has_news:
                await self._reconcile()
            if self._commits_by_itself and self._commit_at_s <= asyncio.get_running_loop().time():
                self._commit_at_s = self._next_commit_s()
                await self.commit()
            fetched = self._take_unfinished() or self._fetcher.take()
            if fetched is not None:
                return fetched
            await self._wait()

    async def _wait(self) -> None:
        """Returns when something was fetched, decided, or is to be committed."""
        if not self._commits_by_itself:
            await self._fetcher.wait()
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_at(self._commit_at_s, self._fetcher.interrupt)
        try:
            await self._fetcher.wait()
        finally:
            timer.cancel()

    def _take_unfinished(self) -> Fetched | None:
        """What an iteration left of what it had begun."""
        unfinished, self._unfinished = self._unfinished, None
        if unfinished is None or not self._fetcher.is_current(unfinished[0]):
            return None
        fetched = unfinished[0]
        position = self._fetcher.readings[fetched.partition].position
        return replace(fetched, start_offset=position) if position < fetched.next_offset else None

    async def _reconcile(self) -> None:
        """Takes over what the coordinator has decided."""
        assert self._group is not None
        group, membership = self._group, self._group.membership
        if group.failure is not None:
            raise group.failure
        if group.was_fenced:
            group.was_fenced = False
            lost = self.assignment
            self._fetcher.assign([])
            await self._on_revoked(lost)
        if not membership.must_reconcile:
            return
        target = membership.target
        named = await self._named({topic_id for topic_id, _ in target})
        wanted = {TopicPartition(named[topic], index) for topic, index in target if topic in named}
        revoked, added = self.assignment - wanted, wanted - self.assignment
        if revoked:
            if self._commits_by_itself:
                await self.commit()
            await self._on_revoked(revoked)
        self._fetcher.assign(wanted)
        membership.take(target)
        group.poke()
        if added:
            await self._on_assigned(added)

    async def _named(self, topic_ids: set[Uuid]) -> dict[Uuid, str]:
        for _ in range(2):
            known = {each.id: each.name for each in self._cluster.metadata.topics.values()}
            unknown = [each for each in topic_ids if each not in known]
            if not unknown:
                break
            await self._cluster.learn_topics(unknown)
        return known

    async def _place(
        self, partitions: Collection[TopicPartition], placement: Placement
    ) -> Mapping[TopicPartition, int]:
        if placement is Placement.RESET:
            settings = self._settings
            return await reset_positions(
                self._cluster, partitions, settings.auto_offset_reset, settings.isolation_level
            )
        if self._settings.group_id is None:
            return {}
        committed = await self.committed(partitions)
        return {partition: each.offset for partition, each in committed.items()}

    async def _as_member(self, call: Callable[[GroupMember], Awaitable[_T]]) -> _T:
        """Asks as a member, again where its epoch has moved on meanwhile."""
        for _ in range(_STALE_EPOCH_TRIES):
            try:
                return await call(self.member)
            except KafkaError as error:
                if error.code is not ErrorCode.STALE_MEMBER_EPOCH or self._group is None:
                    raise
                await self._group.next_answer()
        return await call(self.member)
