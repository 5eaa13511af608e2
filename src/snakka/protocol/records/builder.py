"""Writing record batches of format v2, byte for byte as Apache Kafka's Java code lays them out.

A record's offset places it in its batch: a producer counts from 0, a log gives absolute offsets.
Offsets may have gaps, as compaction leaves them, but must rise.

Not here: assigning offsets to a batch that is already written (batch.assign_offset).
"""

from collections.abc import Iterable

from snakka.protocol.records.batch import (
    COMPRESSION_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    Batch,
    BatchHeader,
    seal,
)
from snakka.protocol.records.compression import DEFAULT_LIMIT_BYTES, Compression, compress
from snakka.protocol.records.control import EndTxnMarker
from snakka.protocol.records.record import Record, append_record


def build_batch(
    records: Iterable[Record],
    *,
    compression: Compression = Compression.NONE,
    level: int | None = None,
    log_append_time: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytes:
    """One batch of at least one record.

    Idempotent batches give the producer's id, epoch and first sequence. `log_append_time` stamps
    the batch and so all of its records, whose own timestamps stay underneath, as in Java.
    """
    records = list(records)
    if not records:
        raise ValueError("a batch holds at least one record")
    base = records[0]
    max_timestamp = max(record.timestamp_ms for record in records)
    header = BatchHeader(
        base_offset=base.offset,
        batch_length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=compression
        | (TIMESTAMP_TYPE_BIT if log_append_time is not None else 0)
        | (TRANSACTIONAL_BIT if is_transactional else 0)
        | (CONTROL_BIT if is_control else 0),
        last_offset_delta=records[-1].offset - base.offset,
        base_timestamp=base.timestamp_ms,
        max_timestamp=max_timestamp if log_append_time is None else log_append_time,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return seal(header, compress(compression, _section(records), level=level))


def _section(records: list[Record]) -> bytearray:
    base_offset, base_timestamp = records[0].offset, records[0].timestamp_ms
    section = bytearray()
    previous = base_offset - 1
    for record in records:
        if record.offset <= previous:
            raise ValueError(f"offset {record.offset} does not rise above {previous}")
        previous = record.offset
        append_record(section, record, base_offset, base_timestamp)
    return section


def build_end_txn_batch(
    marker: EndTxnMarker,
    *,
    timestamp_ms: int,
    producer_id: int,
    producer_epoch: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytes:
    """The control batch that commits or aborts a producer's transaction."""
    return build_batch(
        [Record(base_offset, timestamp_ms, marker.key(), marker.value())],
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def build_empty_batch(header: BatchHeader) -> bytes:
    """`header` without records: what compaction leaves of a producer's last batch."""
    empty = header._replace(
        attributes=header.attributes & ~(COMPRESSION_MASK | DELETE_HORIZON_BIT),
        base_timestamp=NO_TIMESTAMP,
        record_count=0,
    )
    return seal(empty, b"")


def recompress(
    batch: Batch,
    compression: Compression,
    *,
    level: int | None = None,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
) -> bytes:
    """The same batch in another codec; its records are not walked."""
    section = batch.section(limit_bytes)
    attributes = batch.header.attributes & ~COMPRESSION_MASK | compression
    return seal(
        batch.header._replace(attributes=attributes), compress(compression, section, level=level)
    )
