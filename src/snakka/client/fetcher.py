"""Fetches what is assigned, ahead of who reads it: one request per node at a time.

A partition that has no leader, no position or an error waits by itself; others go on. No more than
`fetch_max_bytes` wait to be read, give or take one answer per node.

Not here: what is assigned and why (consumer.py), decoding (fetched.py).
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Final

from snakka.client.aborted import AbortedTransaction
from snakka.client.backoff import Backoff
from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError, KafkaError, kafka_error
from snakka.client.fetch_session import FetchFrom, FetchSession, FetchSettings, fetch_request
from snakka.client.fetched import Fetched, next_offset_after
from snakka.client.list_offsets import IsolationLevel
from snakka.client.metadata import nodes_of
from snakka.client.reading import Placement, Reading
from snakka.client.records import TopicPartition
from snakka.client.tasks import Tasks
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch import (
    FetchResponse,
    PartitionData,
)
from snakka.protocol.types import Buffer

LANE: Final = "fetch"

_SESSION_LOST: Final = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)

Place = Callable[[Collection[TopicPartition], Placement], Awaitable[Mapping[TopicPartition, int]]]


class Fetcher:
    """What is assigned, and what of it was fetched. Ended by `close`."""

    def __init__(self, cluster: Cluster, settings: FetchSettings, place: Place) -> None:
        self._cluster = cluster
        self._settings = settings
        self._place = place
        self.readings: dict[TopicPartition, Reading] = {}
        self._sessions: dict[int, FetchSession] = defaultdict(FetchSession)
        self._fetched: deque[Fetched | ClientError] = deque()
        self._fetched_bytes = 0
        self._wake = asyncio.Event()
        self._has_fetched = asyncio.Event()
        self._tasks = Tasks(self._wake.set)
        self._backoff = Backoff(
            cluster.settings.retry_backoff_ms, cluster.settings.retry_backoff_max_ms
        )

    def start(self) -> None:
        self._tasks.spawn(self._run())

    async def close(self) -> None:
        await self._tasks.close()

    def assign(self, partitions: Collection[TopicPartition]) -> None:
        """Reads these from now on; those that were read before go on where they are."""
        self.readings = {each: self.readings.get(each) or Reading() for each in partitions}
        self.wake()

    def wake(self) -> None:
        """What is to be fetched has changed."""
        self._wake.set()

    def interrupt(self) -> None:
        """Lets `wait` return without anything fetched."""
        self._has_fetched.set()

    def take(self) -> Fetched | None:
        """What was fetched first of what may be handed out; raises what cannot be fetched."""
        for _ in range(len(self._fetched)):
            each = self._fetched.popleft()
            if isinstance(each, ClientError):
                raise each
            reading = self.readings.get(each.partition)
            if reading is not None and reading.is_paused and self.is_current(each):
                self._fetched.append(each)
                continue
            self._fetched_bytes -= len(each.data)
            self.wake()
            if self.is_current(each):
                return each
        return None

    async def wait(self) -> None:
        """Returns when there may be something to take."""
        await self._has_fetched.wait()
        self._has_fetched.clear()

    def is_current(self, fetched: Fetched) -> bool:
        """Whether the reader still wants to go on there."""
        reading = self.readings.get(fetched.partition)
        return reading is not None and reading.generation is fetched.generation

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            for placement in (Placement.COMMITTED, Placement.RESET):
                lost = [p for p, each in self._due() if each.placement is placement]
                if lost:
                    self._tasks.once(placement, self._find_positions, lost, placement)
            for node_id in self._nodes():
                if self._fetched_bytes < self._settings.fetch_max_bytes:
                    self._tasks.once(node_id, self._fetch, node_id)
            await self._wake.wait()

    def _due(self) -> Iterator[tuple[TopicPartition, Reading]]:
        """What does not wait after an error."""
        now_s = asyncio.get_running_loop().time()
        return ((p, each) for p, each in self.readings.items() if each.retry_at_s <= now_s)

    def _nodes(self) -> set[int]:
        """The leaders of what can be fetched; unknown ones are looked for."""
        nodes = set()
        for partition, reading in self._due():
            leader = self._cluster.find_leader(*partition)
            if leader is None:
                self._tasks.once(partition, self._look_for_leader, partition, reading)
            elif reading.is_placed and not reading.is_paused:
                nodes.add(leader)
        return nodes

    async def _look_for_leader(self, partition: TopicPartition, reading: Reading) -> None:
        try:
            await self._cluster.get_leader(*partition)
        except ClientError as error:
            self._retry_later(reading)
            if not error.is_retriable:
                self._put(error)

    async def _find_positions(
        self, partitions: Collection[TopicPartition], placement: Placement
    ) -> None:
        try:
            positions = await self._place(partitions, placement)
        except ClientError as error:
            for partition in partitions:
                if partition in self.readings:
                    self._retry_later(self.readings[partition])
            if not error.is_retriable:
                self._put(error)
            return
        for partition in partitions:
            reading = self.readings.get(partition)
            if reading is not None and reading.placement is placement:
                if partition in positions:
                    reading.seek(positions[partition])
                else:
                    reading.lose(Placement.RESET)

    async def _fetch(self, node_id: int) -> None:
        session = self._sessions[node_id]
        wanted = dict(self._wanted(node_id))
        generations = {each: self.readings[each].generation for each in wanted}
        asked = session.next_request(wanted)
        try:
            answer = await self._cluster.ask_node(
                node_id, fetch_request(self._settings, asked), FetchResponse, lane=LANE
            )
        except ClientError as error:
            session.reset()
            if isinstance(error, KafkaError) and error.code in _SESSION_LOST:
                return
            for partition in wanted:
                self._cluster.mark_stale(partition.topic)
                if partition in self.readings:
                    self._retry_later(self.readings[partition])
            if not error.is_retriable:
                self._put(error)
            return
        session.answered(answer.session_id)
        self._receive(answer, wanted, generations)

    def _wanted(self, node_id: int) -> Iterator[tuple[TopicPartition, FetchFrom]]:
        for partition, reading in self._due():
            if not reading.is_placed or reading.is_paused:
                continue
            if self._cluster.find_leader(*partition) == node_id:
                yield (
                    partition,
                    FetchFrom(
                        reading.fetch_offset,
                        self._cluster.leader_epoch(*partition),
                        self._cluster.metadata.topics[partition.topic].id,
                    ),
                )

    def _receive(
        self,
        answer: FetchResponse,
        wanted: Mapping[TopicPartition, FetchFrom],
        generations: Mapping[TopicPartition, object],
    ) -> None:
        names = {each.topic_id: partition.topic for partition, each in wanted.items()}
        nodes = nodes_of(answer.node_endpoints)
        for topic in answer.responses:
            for data in topic.partitions:
                name = topic.topic or names.get(topic.topic_id, "")
                partition = TopicPartition(name, data.partition_index)
                reading = self.readings.get(partition)
                if reading is None or reading.generation is not generations.get(partition):
                    continue  # the reader has gone elsewhere meanwhile
                if data.error_code:
                    self._refuse(partition, reading, kafka_error(data.error_code))
                    leader = data.current_leader
                    self._cluster.learn_leader(
                        *partition, leader.leader_id, leader.leader_epoch, nodes
                    )
                else:
                    self._accept(partition, reading, data)

    def _accept(self, partition: TopicPartition, reading: Reading, data: PartitionData) -> None:
        reading.failures = 0
        reading.high_watermark = data.high_watermark
        reading.last_stable_offset = data.last_stable_offset
        if not data.records:
            return
        assert isinstance(data.records, Buffer)
        aborted = None
        if self._settings.isolation_level is IsolationLevel.READ_COMMITTED:
            told = data.aborted_transactions or ()
            aborted = tuple(AbortedTransaction(each.first_offset, each.producer_id)
                            for each in told)  # fmt: skip
        next_offset = next_offset_after(data.records, reading.fetch_offset)
        self._fetched_bytes += len(data.records)
        self._put(
            Fetched(
                partition,
                reading.fetch_offset,
                next_offset,
                data.records,
                aborted,
                self._settings.check_crcs,
                reading.generation,
            )
        )
        reading.fetch_offset = next_offset

    def _refuse(self, partition: TopicPartition, reading: Reading, error: KafkaError) -> None:
        self._retry_later(reading)
        if error.code.means_stale_metadata:
            self._cluster.mark_stale(partition.topic)
        if error.code is ErrorCode.OFFSET_OUT_OF_RANGE:
            reading.retry_at_s = 0
            reading.lose(Placement.RESET)
        elif not error.is_retriable:
            self._put(error)

    def _retry_later(self, reading: Reading) -> None:
        reading.failures += 1
        delay_s = self._backoff.delay_ms(reading.failures, self._cluster.rng) / 1000
        loop = asyncio.get_running_loop()
        reading.retry_at_s = loop.time() + delay_s
        loop.call_later(delay_s, self._wake.set)

    def _put(self, fetched: Fetched | ClientError) -> None:
        self._fetched.append(fetched)
        self._has_fetched.set()
