"""Rows to record batches, one row of batches for each partition they go to.

A batch here belongs to no producer yet; `for_producer` gives it one without walking its records.

Not here: sending (producing.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from snakka.client.partitioner import partition_for_key
from snakka.client.records import TopicPartition
from snakka.pipeline.errors import SchemaError
from snakka.pipeline.rows import Row
from snakka.protocol.records.batch import (
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Batch,
    BatchHeader,
    assign_offset,
    assign_producer,
    seal,
)
from snakka.protocol.records.compression import Compression, compress
from snakka.protocol.records.record import Record, append_record

_SEQUENCES: Final = 1 << 31


class Encoded(NamedTuple):
    """A batch and where it belongs."""

    where: TopicPartition
    data: bytes


@dataclass(slots=True)
class _Section:
    base_timestamp: int
    max_timestamp: int
    count: int = 0
    records: bytearray = field(default_factory=bytearray)


class Encoder:
    """Gathers rows; hands out a batch when it is full, and all of them at the end."""

    def __init__(
        self,
        find_count: Callable[[str], int],
        now_ms: int,
        *,
        batch_bytes: int,
        compression: Compression,
        rng: Random,
    ) -> None:
        self._find_count = find_count
        self._counts: dict[str, int] = {}
        self._now_ms = now_ms
        self._batch_bytes = batch_bytes
        self._compression = compression
        self._rng = rng
        self._sections: dict[TopicPartition, _Section] = {}
        self._stuck: dict[str, int] = {}  # where a topic's rows without a key go for now

    def add(self, row: Row) -> Encoded | None:
        """The batch that the row filled."""
        where = TopicPartition(row.topic, self._partition(row))
        section = self._sections.get(where)
        timestamp = self._now_ms if row.timestamp_ms is None else row.timestamp_ms
        if section is None:
            section = self._sections[where] = _Section(timestamp, timestamp)
        record = Record(section.count, timestamp, row.key, row.value, row.headers)
        append_record(section.records, record, 0, section.base_timestamp)
        section.max_timestamp = max(section.max_timestamp, timestamp)
        section.count += 1
        if len(section.records) < self._batch_bytes:
            return None
        return self._seal(where)

    def finish(self) -> Iterator[Encoded]:
        """The batches that are not full."""
        for where in list(self._sections):
            yield self._seal(where)

    def _seal(self, where: TopicPartition) -> Encoded:
        section = self._sections.pop(where)
        self._stuck.pop(where.topic, None)
        header = BatchHeader(
            base_offset=0,
            batch_length=0,
            leader_epoch=NO_LEADER_EPOCH,
            magic=MAGIC,
            crc=0,
            attributes=self._compression,
            last_offset_delta=section.count - 1,
            base_timestamp=section.base_timestamp,
            max_timestamp=section.max_timestamp,
            producer_id=NO_PRODUCER_ID,
            producer_epoch=NO_PRODUCER_EPOCH,
            base_sequence=NO_SEQUENCE,
            record_count=section.count,
        )
        return Encoded(where, seal(header, compress(self._compression, section.records)))

    def _partition(self, row: Row) -> int:
        """As Java's producer decides: the one that is given, else by key, else any for a while."""
        count = self._counts.get(row.topic)
        if count is None:
            count = self._counts[row.topic] = self._find_count(row.topic)
        if row.partition is not None:
            if not 0 <= row.partition < count:
                raise SchemaError(
                    f"column partition: is {row.partition}, and {row.topic} has {count} partitions"
                )
            return row.partition
        if row.key is not None:
            return partition_for_key(row.key, count)
        return self._stuck.setdefault(row.topic, self._rng.randrange(count))


def for_producer(batch: Batch, producer_id: int, producer_epoch: int, sequence: int) -> bytearray:
    """The batch as a part of a producer's transaction, with no place in a log yet."""
    data = bytearray(batch.data)
    assign_offset(data, 0, NO_LEADER_EPOCH)
    assign_producer(data, producer_id, producer_epoch, sequence)
    return data


def next_sequence(sequence: int, count: int) -> int:
    """Sequences begin again at 0 after the largest int32, as in Java's producer."""
    return (sequence + count) % _SEQUENCES
