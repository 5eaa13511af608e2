"""Records gathered into batches, and each batch followed until it is written or given up. Pure.

With an identity (KIP-98) a partition's batches carry sequence numbers, which let a broker tell a
duplicate from a gap: order holds with several requests under way and through retries. A batch that
comes back is sent again with its number, alone, before anything else of its partition.

When a batch is given up, its numbers are missing and a broker refuses all that follow. The
partition then starts over from 0 in the next epoch, once it is known of every numbered batch
whether it was written; brokers keep epochs by partition, so no other one is concerned (KIP-360
asks the coordinator instead where there is a transaction; see transactions.py).

Not here: sending (sender.py), what an answer means for a batch (delivering.py).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from snakka.client.errors import ClientError
from snakka.client.records import TopicPartition
from snakka.protocol.records.batch import (
    HEADER_BYTES,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
)
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.record import Header, Record

IN_FLIGHT_MAX: Final = 5  # of a partition: as many as a broker can tell duplicates of

_SEQUENCES: Final = 1 << 31
_RECORD_OVERHEAD_BYTES: Final = 21  # the most that lengths, deltas and attributes take
_HEADER_OVERHEAD_BYTES: Final = 10


class DeliveryTimedOutError(ClientError):
    """A record that could not be written in time; it may have been, if it was ever sent."""


class Identity(NamedTuple):
    """What a broker knows a producer by."""

    producer_id: int
    epoch: int


class Written(NamedTuple):
    """Where a batch is; -1 is what the broker did not tell."""

    base_offset: int
    log_append_time_ms: int


@dataclass(frozen=True, slots=True)
class BatchingSettings:
    batch_size: int
    linger_ms: int
    delivery_timeout_ms: int
    compression: Compression
    compression_level: int | None


@dataclass(slots=True, eq=False)
class ProducerBatch:
    """Records for one partition; `outcome` is there once nothing more will happen to them."""

    partition: TopicPartition
    created_ms: int
    place: int  # among the batches of its partition
    records: list[Record] = field(default_factory=list)
    size_bytes: int = HEADER_BYTES
    identity: Identity | None = None
    base_sequence: int = NO_SEQUENCE
    attempts: int = 0
    retry_at_ms: float = 0
    outcome: Written | ClientError | None = None
    listeners: list[Callable[[], None]] = field(default_factory=list)

    def encode(self, settings: BatchingSettings, *, is_transactional: bool) -> bytes:
        identity = self.identity or Identity(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
        return build_batch(
            self.records,
            compression=settings.compression,
            level=settings.compression_level,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            base_sequence=self.base_sequence,
            is_transactional=is_transactional,
        )


@dataclass(slots=True)
class _Queue:
    """The batches of one partition, in the order in which they are to be written."""

    waiting: deque[ProducerBatch] = field(default_factory=deque)
    in_flight: list[ProducerBatch] = field(default_factory=list)
    identity: Identity | None = None
    next_sequence: int = 0
    next_place: int = 0
    must_start_over: bool = False

    @property
    def is_idle(self) -> bool:
        return not self.waiting and not self.in_flight

    def put_back(self, batch: ProducerBatch, retry_at_ms: float) -> None:
        self.in_flight.remove(batch)
        batch.attempts += 1
        batch.retry_at_ms = retry_at_ms
        earlier = sum(each.place < batch.place for each in self.waiting)
        self.waiting.insert(earlier, batch)

    def numbered(self) -> Iterator[ProducerBatch]:
        batches = (*self.in_flight, *self.waiting)
        return (each for each in batches if each.base_sequence != NO_SEQUENCE)


class Accumulator:
    """All batches of a producer."""

    def __init__(self, settings: BatchingSettings) -> None:
        self._settings = settings
        self._queues: dict[TopicPartition, _Queue] = {}
        self._active: dict[TopicPartition, _Queue] = {}  # those that are not idle
        self._identity: Identity | None = None
        self.size_bytes = 0  # of all batches that have no outcome

    def adopt(self, identity: Identity) -> None:
        """All partitions count from 0 under a new identity; nothing may be waiting."""
        assert not self._active
        if identity != self._identity:
            self._identity = identity
            self._queues.clear()

    @property
    def is_empty(self) -> bool:
        return not self._active

    def append(
        self,
        partition: TopicPartition,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[Header, ...],
        timestamp_ms: int,
        now_ms: int,
    ) -> tuple[ProducerBatch, int]:
        """The batch that a record went to, and its place there."""
        size = record_size_max(key, value, headers)
        queue = self._queue(partition)
        batch = queue.waiting[-1] if queue.waiting else None
        if batch is None or not self._has_room(batch, size):
            batch = ProducerBatch(partition, now_ms, queue.next_place)
            queue.next_place += 1
            queue.waiting.append(batch)
            self._active[partition] = queue
            self.size_bytes += HEADER_BYTES
        index = len(batch.records)
        batch.records.append(Record(index, timestamp_ms, key, value, headers))
        batch.size_bytes += size
        self.size_bytes += size
        return batch, index

    def ready(self, now_ms: int, *, is_flushing: bool) -> Iterator[TopicPartition]:
        """The partitions whose first batch is to be sent now."""
        for partition, queue in self._active.items():
            if queue.waiting and self._ready_at_ms(queue, is_flushing) <= now_ms:
                yield partition

    def next_deadline_ms(self, now_ms: int, *, is_flushing: bool) -> float:
        """When `ready` or `expire` will have something new, if nothing else happens."""
        deadline_ms = _NEVER
        for queue in self._active.values():
            if queue.waiting:
                ready_at_ms = self._ready_at_ms(queue, is_flushing)
                expires_ms = queue.waiting[0].created_ms + self._settings.delivery_timeout_ms
                later = (each for each in (ready_at_ms, expires_ms) if each > now_ms)
                deadline_ms = min(deadline_ms, *later, _NEVER)
        return deadline_ms

    def first(self, partition: TopicPartition) -> ProducerBatch:
        return self._active[partition].waiting[0]

    def take(self, partition: TopicPartition) -> ProducerBatch:
        """The first batch of a partition, which counts as sent from now on."""
        queue = self._active[partition]
        batch = queue.waiting.popleft()
        queue.in_flight.append(batch)
        if queue.identity is not None and batch.base_sequence == NO_SEQUENCE:
            batch.identity, batch.base_sequence = queue.identity, queue.next_sequence
            queue.next_sequence = (queue.next_sequence + len(batch.records)) % _SEQUENCES
        return batch

    def put_back(self, batch: ProducerBatch, retry_at_ms: float) -> None:
        """A batch that was sent, and is to be sent again."""
        queue = self._active[batch.partition]
        queue.put_back(batch, retry_at_ms)
        self._start_over_if_settled(queue)

    def put_back_unnumbered(self, batch: ProducerBatch, retry_at_ms: float) -> None:
        """A batch that certainly was not written, whose number leads nowhere any more."""
        queue = self._active[batch.partition]
        queue.must_start_over = True
        queue.put_back(batch, retry_at_ms)
        for each in queue.waiting:  # nor were those that come after it
            each.base_sequence = NO_SEQUENCE
        self._start_over_if_settled(queue)

    def finish(self, batch: ProducerBatch, outcome: Written | ClientError) -> None:
        """Nothing more will happen to a batch."""
        queue = self._active[batch.partition]
        if batch in queue.in_flight:
            queue.in_flight.remove(batch)
        else:
            queue.waiting.remove(batch)
        if isinstance(outcome, ClientError) and batch.base_sequence != NO_SEQUENCE:
            queue.must_start_over = True
        self.size_bytes -= batch.size_bytes
        batch.outcome = outcome
        batch.records.clear()
        self._start_over_if_settled(queue)
        if queue.is_idle:
            del self._active[batch.partition]
        for listener in batch.listeners:
            listener()

    def has_earlier(self, batch: ProducerBatch) -> bool:
        """Whether a batch that is numbered below this one is not written yet."""
        numbered = self._active[batch.partition].numbered()
        return any(each.place < batch.place for each in numbered)

    def expire(self, now_ms: int) -> None:
        """Gives up what has waited for longer than `delivery.timeout.ms`."""
        oldest_ms = now_ms - self._settings.delivery_timeout_ms
        for queue in list(self._active.values()):
            for batch in [each for each in queue.waiting if each.created_ms <= oldest_ms]:
                limit_ms = self._settings.delivery_timeout_ms
                complaint = f"{batch.partition}: not written within {limit_ms} ms"
                self.finish(batch, DeliveryTimedOutError(complaint))

    def abandon(self, error: ClientError, partition: TopicPartition | None = None) -> None:
        """Gives up everything of a partition, or of all, that is not under way."""
        for each, queue in list(self._active.items()):
            if partition is None or each == partition:
                for batch in list(queue.waiting):
                    self.finish(batch, error)

    def _has_room(self, batch: ProducerBatch, size: int) -> bool:
        """One that was sent before stays as it was."""
        is_new = not batch.attempts and batch.base_sequence == NO_SEQUENCE
        return is_new and batch.size_bytes + size <= self._settings.batch_size

    def _queue(self, partition: TopicPartition) -> _Queue:
        queue = self._queues.get(partition)
        if queue is None:
            queue = self._queues[partition] = _Queue(identity=self._identity)
        return queue

    def _ready_at_ms(self, queue: _Queue, is_flushing: bool) -> float:
        first = queue.waiting[0]
        is_alone = first.attempts or queue.must_start_over
        if queue.in_flight and (is_alone or queue.in_flight[0].attempts):
            # More in between, and a broker would no longer know it for a duplicate.
            return _NEVER
        if first.attempts:
            return first.retry_at_ms
        if len(queue.in_flight) >= IN_FLIGHT_MAX:
            return _NEVER
        is_full = len(queue.waiting) > 1 or first.size_bytes >= self._settings.batch_size
        if is_full or is_flushing:
            return first.created_ms
        return first.created_ms + self._settings.linger_ms

    def _start_over_if_settled(self, queue: _Queue) -> None:
        if queue.must_start_over and queue.identity is not None and not any(queue.numbered()):
            queue.must_start_over = False
            queue.identity = Identity(queue.identity.producer_id, queue.identity.epoch + 1)
            queue.next_sequence = 0


_NEVER: Final = float("inf")


def record_size_max(key: bytes | None, value: bytes | None, headers: Iterable[Header]) -> int:
    """The most bytes that a record takes in a batch that is not compressed."""
    size = _RECORD_OVERHEAD_BYTES + len(key or b"") + len(value or b"")
    for name, content in headers:
        size += _HEADER_OVERHEAD_BYTES + 3 * len(name) + len(content or b"")
    return size
