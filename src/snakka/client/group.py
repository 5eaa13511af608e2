"""Keeps a consumer in its group: heartbeats, joining again after being fenced, leaving.

What the coordinator decides is taken over by the consumer, between records (consumer.py).
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from snakka.client.backoff import Backoff
from snakka.client.cluster import Cluster, CoordinatorType
from snakka.client.errors import ClientError, KafkaError
from snakka.client.membership import FENCED, Membership
from snakka.client.offsets import GroupMember
from snakka.client.tasks import Tasks
from snakka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


class Group:
    """The heartbeats of one membership, from `start` to `leave`."""

    def __init__(
        self,
        cluster: Cluster,
        membership: Membership,
        group_id: str,
        instance_id: str | None,
        on_news: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self.membership = membership
        self._id = group_id
        self._instance_id = instance_id
        self._on_news = on_news
        self._poke = asyncio.Event()
        self._answered = asyncio.Event()
        self._tasks = Tasks(on_news)
        self._backoff = Backoff(
            cluster.settings.retry_backoff_ms, cluster.settings.retry_backoff_max_ms
        )
        self._failures = 0
        self.was_fenced = False
        self.failure: ClientError | None = None

    @property
    def member(self) -> GroupMember:
        """Who commits."""
        epoch = self.membership.epoch
        return GroupMember(self._id, self.membership.member_id, epoch, self._instance_id)

    @property
    def has_news(self) -> bool:
        """Whether the consumer is to look."""
        return self.was_fenced or self.failure is not None or self.membership.must_reconcile

    def start(self) -> None:
        self._tasks.once("heartbeats", self._run)

    def poke(self) -> None:
        """There is something to tell the coordinator."""
        self._poke.set()

    async def next_answer(self) -> None:
        """Returns once the coordinator has answered the next heartbeat."""
        self._answered.clear()
        self.poke()
        await self._answered.wait()

    async def leave(self) -> None:
        await self._tasks.close()
        if self.membership.is_joined:
            with suppress(ClientError):  # then its session runs out
                await self._ask(self.membership.leave())

    async def _run(self) -> None:
        while self.failure is None:
            self._poke.clear()
            await self._heartbeat()
            if self.has_news:
                self._on_news()
            if self._failures:
                delay_ms = self._backoff.delay_ms(self._failures, self._cluster.rng)
                await asyncio.sleep(delay_ms / 1000)
            elif not self.membership.has_news:
                await self._sleep(self.membership.heartbeat_interval_ms / 1000)

    async def _heartbeat(self) -> None:
        request = self.membership.heartbeat()
        try:
            answer = await self._ask(request)
        except ClientError as error:
            self._failures += 1
            self.membership.unanswered()
            if isinstance(error, KafkaError) and error.code in FENCED:
                self.membership.fenced()
                self.was_fenced = True
            elif not error.is_retriable:
                self.failure = error
            return
        self._failures = 0
        self.membership.answered(answer)
        self._answered.set()

    async def _ask(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        return await self._cluster.ask_coordinator(
            self._id, CoordinatorType.GROUP, request, ConsumerGroupHeartbeatResponse
        )

    async def _sleep(self, interval_s: float) -> None:
        timer = asyncio.get_running_loop().call_later(interval_s, self._poke.set)
        await self._poke.wait()
        timer.cancel()
