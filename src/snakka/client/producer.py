"""A producer: records in, batched by partition, and where they were written out.

    async with Cluster("localhost:9092") as cluster, Producer(cluster) as producer:
        delivery = await producer.send("topic", b"value", key=b"key")
        print((await delivery).offset)

Idempotent by default: what is sent is written once and in order, retries included. With a
`transactional_id` everything is part of a transaction.

Not here: batches (batching.py), sending them (sender.py), transactions (transactions.py).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from snakka.client.batching import (
    Accumulator,
    BatchingSettings,
    Identity,
    ProducerBatch,
    record_size_max,
)
from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError, kafka_error
from snakka.client.metadata import TopicInfo
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.partitioner import StickyPartitioner, partition_for_key
from snakka.client.records import RecordMetadata, TopicPartition
from snakka.client.sender import Sender
from snakka.client.transactions import Transactions, TransactionStateError
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.record import Header

ALL: Final = -1


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """What a producer can be told, with the names and defaults of Kafka's."""

    acks: int = ALL
    enable_idempotence: bool = True
    batch_size: int = 16_384
    linger_ms: int = 5
    buffer_memory: int = 32 * 1024 * 1024
    max_request_size: int = 1024 * 1024
    max_block_ms: int = 60_000
    delivery_timeout_ms: int = 120_000
    compression_type: Compression = Compression.NONE
    compression_level: int | None = None
    transactional_id: str | None = None
    transaction_timeout_ms: int = 60_000

    def __post_init__(self) -> None:
        if self.acks not in (0, 1, ALL):
            raise ValueError(f"acks={self.acks} is none of 0, 1 and -1")
        if self.enable_idempotence and self.acks != ALL:
            raise ValueError("an idempotent producer needs acks=-1; else set enable_idempotence")
        if self.transactional_id is not None and not self.enable_idempotence:
            raise ValueError("a transactional producer is idempotent")


DEFAULT: Final = ProducerSettings()


class BufferFullError(ClientError):
    """`buffer_memory` is full of records that could not be written within `max_block_ms`."""


class ProducerClosedError(ClientError):
    """The producer was closed before the record was written."""


class Delivery:
    """What will be known of a record: await it for where it was written."""

    __slots__ = ("_batch", "_index", "_timestamp_ms")

    def __init__(self, batch: ProducerBatch, index: int, timestamp_ms: int) -> None:
        self._batch = batch
        self._index = index
        self._timestamp_ms = timestamp_ms

    @property
    def is_done(self) -> bool:
        """Whether awaiting it would not wait."""
        return self._batch.outcome is not None

    def __await__(self) -> Generator[object, None, RecordMetadata]:
        batch = self._batch
        if batch.outcome is None:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            batch.listeners.append(lambda: _wake(done))
            yield from done
        outcome = batch.outcome
        assert outcome is not None
        if isinstance(outcome, ClientError):
            raise outcome
        base, appended_ms = outcome
        offset = base + self._index if base >= 0 else -1
        stamp_ms = appended_ms if appended_ms >= 0 else self._timestamp_ms
        return RecordMetadata(*batch.partition, offset, stamp_ms)


def _wake(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


class Producer:
    """An async context manager: it is flushed when left well, and dropped when left in error."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings = DEFAULT) -> None:
        self._cluster = cluster
        self._settings = settings
        batching = BatchingSettings(
            settings.batch_size,
            settings.linger_ms,
            settings.delivery_timeout_ms,
            settings.compression_type,
            settings.compression_level,
        )
        self._accumulator = Accumulator(batching)
        self._partitioner = StickyPartitioner(settings.batch_size, cluster.rng)
        self._room = asyncio.Event()
        self._is_closed = False
        self._sender = Sender(
            cluster,
            self._accumulator,
            batching,
            acks=settings.acks,
            request_bytes_max=settings.max_request_size,
            transactional_id=settings.transactional_id,
            on_given_up=self._on_given_up,
        )
        self._transactions: Transactions | None = None
        if settings.transactional_id is not None:
            self._transactions = Transactions(
                cluster, settings.transactional_id, settings.transaction_timeout_ms
            )

    async def __aenter__(self) -> "Producer":
        if self._transactions is not None:
            self._accumulator.adopt(await self._transactions.initialize())
            self._sender.produce_version_max = self._transactions.produce_version_max
            self._sender.must_announce = self._transactions.must_announce
            self._sender.announce = self._transactions.announce
        elif self._settings.enable_idempotence:
            self._accumulator.adopt(await self._new_identity())
        self._sender.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                await self.flush()
        finally:
            self._is_closed = True
            self._room.set()
            await self._sender.close()
            self._accumulator.abandon(ProducerClosedError("the producer was closed"))

    async def send(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: bytes | None = None,
        partition: int | None = None,
        headers: Iterable[Header] = (),
        timestamp_ms: int | None = None,
    ) -> Delivery:
        """Queues a record, once there is room; the delivery says how it went.

        Records for a partition are written in the order of these calls.
        """
        if self._is_closed:
            raise ProducerClosedError("the producer is closed")
        if self._transactions is not None:
            self._transactions.check_writable()
        headers = tuple(headers)
        size = record_size_max(key, value, headers)
        if size > self._settings.max_request_size:
            limit = self._settings.max_request_size
            raise kafka_error(
                ErrorCode.MESSAGE_TOO_LARGE, f"a record of {size} bytes; the most are {limit}"
            )
        info = self._cluster.find_topic(topic)
        if info is None:
            info = await self._cluster.get_topic(topic, may_create=True)
        if self._accumulator.size_bytes + size > self._settings.buffer_memory:
            await self._wait_for_room(size)
        place = TopicPartition(topic, self._choose(info, partition, key, size))
        stamp_ms = time.time_ns() // 1_000_000 if timestamp_ms is None else timestamp_ms
        now_ms = time.monotonic_ns() // 1_000_000
        batch, index = self._accumulator.append(place, key, value, headers, stamp_ms, now_ms)
        if index == 0:
            batch.listeners.append(self._room.set)
            self._sender.wake()
            await asyncio.sleep(0)  # or a caller that never waits would keep it from being sent
        return Delivery(batch, index, stamp_ms)

    async def flush(self) -> None:
        """Returns once every record has been written or given up."""
        await self._sender.flush()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Commits when left well, aborts when left in error."""
        self.begin_transaction()
        try:
            yield
        except BaseException:
            await self.abort_transaction()
            raise
        await self.commit_transaction()

    def begin_transaction(self) -> None:
        self._get_transactions().begin()

    async def commit_transaction(self) -> None:
        """Ends the transaction with all that was sent in it, or raises why that cannot be."""
        transactions = self._get_transactions()
        transactions.stop_writing(is_committed=True)
        await self.flush()
        self._accumulator.adopt(await transactions.end(is_committed=True))

    async def abort_transaction(self) -> None:
        transactions = self._get_transactions()
        transactions.stop_writing(is_committed=False)
        self._accumulator.abandon(TransactionStateError("the transaction was aborted"))
        await self.flush()
        self._accumulator.adopt(await transactions.end(is_committed=False))

    async def send_offsets(
        self, offsets: Mapping[TopicPartition, CommittedOffset], member: GroupMember
    ) -> None:
        """Commits a group's positions together with the transaction."""
        await self._get_transactions().send_offsets(offsets, member)

    def _get_transactions(self) -> Transactions:
        if self._transactions is None:
            raise TransactionStateError("the producer has no transactional_id")
        return self._transactions

    def _on_given_up(self, error: ClientError) -> None:
        if self._transactions is not None:
            self._transactions.fail(error)
            self._accumulator.abandon(error)

    async def _new_identity(self) -> Identity:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=-1)
        answer = await self._cluster.ask_any(request, InitProducerIdResponse)
        return Identity(answer.producer_id, answer.producer_epoch)

    async def _wait_for_room(self, size: int) -> None:
        try:
            async with asyncio.timeout(self._settings.max_block_ms / 1000):
                while self._accumulator.size_bytes + size > self._settings.buffer_memory:
                    self._room.clear()
                    await self._room.wait()
        except TimeoutError:
            limit_ms = self._settings.max_block_ms
            raise BufferFullError(f"no room for a record within {limit_ms} ms") from None

    def _choose(self, info: TopicInfo, wanted: int | None, key: bytes | None, size: int) -> int:
        if wanted is not None:
            if wanted not in info.partitions:
                raise kafka_error(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{info.name} has no partition {wanted}"
                )
            return wanted
        if key is not None:
            return partition_for_key(key, len(info.partitions))
        return self._partitioner.next(info.name, info.available, size)
