"""Sends a producer's batches to the leaders of their partitions, and follows up on the answers.

One request per node holds at most one batch of each partition. Nothing waits for a single
partition: one whose leader is unknown or out of reach stays queued while others go on.

Not here: which batches are due and in what order (batching.py), what becomes of one
(delivering.py).
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from snakka.client.backoff import Backoff
from snakka.client.batching import Accumulator, BatchingSettings, ProducerBatch, Written
from snakka.client.cluster import Cluster
from snakka.client.connection import Connection
from snakka.client.delivering import Fate, fate
from snakka.client.errors import ClientError, KafkaError, kafka_error
from snakka.client.metadata import nodes_of
from snakka.client.records import TopicPartition
from snakka.client.tasks import Tasks
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.types import ZERO_UUID, Uuid

REQUESTS_IN_FLIGHT_MAX: Final = 5  # of a node

Sent = list[ProducerBatch]


class Sender:
    """The one task that sends, and those that wait for answers. Ended by `close`."""

    def __init__(
        self,
        cluster: Cluster,
        accumulator: Accumulator,
        batching: BatchingSettings,
        *,
        acks: int,
        request_bytes_max: int,
        transactional_id: str | None,
        on_given_up: Callable[[ClientError], None],
    ) -> None:
        self._cluster = cluster
        self._accumulator = accumulator
        self._batching = batching
        self._acks = acks
        self._request_bytes_max = request_bytes_max
        self._transactional_id = transactional_id
        self._on_given_up = on_given_up
        self._wake = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._flushing = 0
        self._in_flight: dict[int, int] = defaultdict(int)
        self._tasks = Tasks(self.wake)
        self._backoff = Backoff(
            cluster.settings.retry_backoff_ms, cluster.settings.retry_backoff_max_ms
        )
        self.produce_version_max: int | None = None
        # Of a transaction: whether a partition is to be brought into it first, and doing so.
        self.must_announce: Callable[[TopicPartition], bool] = lambda _: False
        self.announce: Callable[[TopicPartition], Awaitable[None]]

    def start(self) -> None:
        self._tasks.spawn(self._run())

    def wake(self) -> None:
        """There is something to send, or room for it."""
        self._wake.set()

    async def flush(self) -> None:
        """Returns once everything that was queued has an outcome."""
        self._flushing += 1
        try:
            while not self._accumulator.is_empty:
                self._is_empty.clear()
                self.wake()
                await self._is_empty.wait()
        finally:
            self._flushing -= 1

    async def close(self) -> None:
        await self._tasks.close()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            now_ms = _now_ms()
            self._accumulator.expire(now_ms)
            self._send_ready(now_ms)
            if self._accumulator.is_empty:
                self._is_empty.set()
            is_flushing = self._flushing > 0
            deadline_ms = self._accumulator.next_deadline_ms(now_ms, is_flushing=is_flushing)
            await self._sleep((deadline_ms - now_ms) / 1000)

    async def _sleep(self, delay_s: float) -> None:
        if delay_s == float("inf"):
            await self._wake.wait()
            return
        timer = asyncio.get_running_loop().call_later(delay_s, self._wake.set)
        await self._wake.wait()
        timer.cancel()

    def _send_ready(self, now_ms: int) -> None:
        ready = self._accumulator.ready(now_ms, is_flushing=self._flushing > 0)
        by_node: dict[int, list[TopicPartition]] = defaultdict(list)
        for partition in ready:
            leader = self._cluster.find_leader(*partition)
            if leader is None:
                self._tasks.once(partition, self._look_for_leader, partition)
            elif self.must_announce(partition):
                self._tasks.once(("announcing", partition), self._announce, partition)
            else:
                by_node[leader].append(partition)
        for node_id, partitions in by_node.items():
            connection = self._cluster.find_connection(node_id)
            if connection is None:
                self._tasks.once(node_id, self._connect, node_id, partitions)
            elif self._in_flight[node_id] < REQUESTS_IN_FLIGHT_MAX:
                self._send(node_id, connection, partitions)

    def _send(self, node_id: int, connection: Connection, ready: Iterable[TopicPartition]) -> None:
        """One request, of as many batches as it may hold; others stay for the next."""
        batches: Sent = []
        size = 0
        for partition in ready:
            size += self._accumulator.first(partition).size_bytes
            if batches and size > self._request_bytes_max:
                self.wake()
                break
            batches.append(self._accumulator.take(partition))
        self._in_flight[node_id] += 1
        self._tasks.spawn(self._deliver(node_id, connection, batches))

    async def _deliver(self, node_id: int, connection: Connection, batches: Sent) -> None:
        try:
            version = connection.highest_version(ProduceRequest)
            version = min(version, self.produce_version_max or version)
            request = self._request(batches)
            if self._acks == 0:
                await connection.tell(request, version=version)
                for batch in batches:
                    self._accumulator.finish(batch, Written(-1, -1))
            else:
                answer = await connection.ask(request, ProduceResponse, version=version)
                self._receive(batches, {e.topic_id: e.name for e in request.topic_data}, answer)
        except ClientError as error:
            for batch in batches:
                if batch.outcome is None:
                    self._retry_or_give_up(batch, error)
        finally:
            self._in_flight[node_id] -= 1
            self.wake()

    def _request(self, batches: Sent) -> ProduceRequest:
        by_topic: dict[str, list[PartitionProduceData]] = defaultdict(list)
        for batch in batches:
            records = batch.encode(
                self._batching, is_transactional=self._transactional_id is not None
            )
            data = PartitionProduceData(index=batch.partition.partition, records=records)
            by_topic[batch.partition.topic].append(data)
        topics = self._cluster.metadata.topics
        return ProduceRequest(
            transactional_id=self._transactional_id,
            acks=self._acks,
            timeout_ms=self._cluster.settings.request_timeout_ms,
            topic_data=[
                TopicProduceData(
                    name=name,
                    topic_id=topics[name].id if name in topics else ZERO_UUID,
                    partition_data=data,
                )
                for name, data in by_topic.items()
            ],
        )

    def _receive(self, batches: Sent, names: dict[Uuid, str], answer: ProduceResponse) -> None:
        nodes = nodes_of(answer.node_endpoints)
        told = {
            TopicPartition(topic.name or names.get(topic.topic_id, ""), part.index): part
            for topic in answer.responses
            for part in topic.partition_responses
        }
        for batch in batches:
            part = told.get(batch.partition)
            if part is None:
                self._retry_or_give_up(batch, kafka_error(ErrorCode.UNKNOWN_SERVER_ERROR))
                continue
            self._settle(batch, part)
            leader = part.current_leader
            self._cluster.learn_leader(
                *batch.partition, leader.leader_id, leader.leader_epoch, nodes
            )

    def _settle(self, batch: ProducerBatch, part: PartitionProduceResponse) -> None:
        if part.error_code == ErrorCode.NONE:
            self._accumulator.finish(batch, Written(part.base_offset, part.log_append_time_ms))
        elif part.error_code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            self._accumulator.finish(batch, Written(-1, -1))
        else:
            self._retry_or_give_up(batch, kafka_error(part.error_code, part.error_message))

    def _retry_or_give_up(self, batch: ProducerBatch, error: ClientError) -> None:
        code = ErrorCode.UNKNOWN_SERVER_ERROR
        if isinstance(error, KafkaError):
            code = error.code
        elif error.is_retriable:
            code = ErrorCode.NETWORK_EXCEPTION
        if code.means_stale_metadata:
            self._cluster.mark_stale(batch.partition.topic)
        decided = fate(
            code,
            has_earlier=self._accumulator.has_earlier(batch),
            is_transactional=self._transactional_id is not None,
        )
        retry_at_ms = _now_ms() + self._backoff.delay_ms(batch.attempts + 1, self._cluster.rng)
        if decided is Fate.RETRY:
            self._accumulator.put_back(batch, retry_at_ms)
        elif decided is Fate.RENUMBER:
            self._accumulator.put_back_unnumbered(batch, retry_at_ms)
        else:
            self._accumulator.finish(batch, error)
            self._on_given_up(error)

    async def _look_for_leader(self, partition: TopicPartition) -> None:
        try:
            await self._cluster.get_leader(*partition)
        except ClientError as error:
            if not error.is_retriable:
                self._accumulator.abandon(error, partition)
                self._on_given_up(error)

    async def _announce(self, partition: TopicPartition) -> None:
        try:
            await self.announce(partition)
        except ClientError as error:
            self._accumulator.abandon(error, partition)
            self._on_given_up(error)

    async def _connect(self, node_id: int, partitions: Iterable[TopicPartition]) -> None:
        try:
            await self._cluster.connect(node_id)
        except ClientError:
            for topic in {each.topic for each in partitions}:
                self._cluster.mark_stale(topic)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
