"""Record batches and kafka-python: what one writes the other reads, for all codecs and formats."""

import struct
from typing import Any

import pytest

from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.legacy import read_records
from snakka.protocol.records.record import Record
from tests.compat.java_oracle import missing
from tests.protocol.records.kafka_python import (
    DefaultRecordBatchBuilder,
    LegacyRecordBatchBuilder,
    MemoryRecords,
    codec,
)
from tests.protocol.records.samples import RECORDS, TIMESTAMP_MS, only_batch

CODECS = tuple(Compression)
LEGACY = [
    (magic, compression)
    for magic in (0, 1)
    for compression in (Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4)
    if (magic, compression) != (0, Compression.LZ4)  # which is compared with Java
]
BATCH_BYTES = 1 << 20
NO_PRODUCER = (False, -1, -1, -1)
PRODUCERS = {
    "plain": NO_PRODUCER,
    "idempotent": (False, 7, 3, 40),
    "transactional": (True, 7, 3, 40),
}


def require_codec(compression: Compression) -> None:
    has_codec = {
        Compression.SNAPPY: codec.has_snappy,
        Compression.LZ4: codec.has_lz4,
        Compression.ZSTD: codec.has_zstd,
    }.get(compression)
    if has_codec is not None and not has_codec():
        missing("kafka-python has not all codecs: pip install kafka-python[lz4,snappy,zstd]")


def read_by_kafka_python(data: bytes) -> list[Record]:
    found = []
    for batch in MemoryRecords(data):
        assert batch.validate_crc()
        found += [
            Record(read.offset, read.timestamp, read.key, read.value, tuple(read.headers))
            for read in batch
        ]
    return found


def written_by_kafka_python(compression: Compression, producer: tuple[Any, ...]) -> bytes:
    builder = DefaultRecordBatchBuilder(2, int(compression), *producer, BATCH_BYTES)
    for index, record in enumerate(RECORDS):
        builder.append(index, record.timestamp_ms, record.key, record.value, list(record.headers))
    return bytes(builder.build())


def counted_from_0() -> list[Record]:
    """As a producer numbers them."""
    return [record._replace(offset=index) for index, record in enumerate(RECORDS)]


@pytest.mark.parametrize("compression", CODECS)
@pytest.mark.parametrize("log_append_time", [None, TIMESTAMP_MS + 1])
def test_kafka_python_reads_what_we_write(
    compression: Compression, log_append_time: int | None
) -> None:
    require_codec(compression)
    written = build_batch(RECORDS, compression=compression, log_append_time=log_append_time)
    ours = list(only_batch(written).records())
    assert read_by_kafka_python(written + written) == ours + ours


@pytest.mark.parametrize("compression", CODECS)
@pytest.mark.parametrize("producer", PRODUCERS.values(), ids=PRODUCERS.keys())
def test_we_read_what_kafka_python_writes(
    compression: Compression, producer: tuple[Any, ...]
) -> None:
    require_codec(compression)
    batch = only_batch(written_by_kafka_python(compression, producer))
    batch.verify_crc()
    header = batch.header
    assert header.compression is compression
    assert producer == (
        header.is_transactional,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
    )
    assert list(batch.records()) == counted_from_0()


@pytest.mark.parametrize("producer", PRODUCERS.values(), ids=PRODUCERS.keys())
def test_uncompressed_batches_are_the_same_bytes(producer: tuple[Any, ...]) -> None:
    is_transactional, producer_id, producer_epoch, base_sequence = producer
    theirs = written_by_kafka_python(Compression.NONE, producer)
    ours = build_batch(
        counted_from_0(),
        leader_epoch=only_batch(theirs).header.leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        is_transactional=is_transactional,
    )
    assert ours == theirs


def test_kafka_python_knows_our_control_batches() -> None:
    marker = EndTxnMarker(ControlType.COMMIT, coordinator_epoch=1)
    written = build_end_txn_batch(marker, timestamp_ms=1, producer_id=7, producer_epoch=3)
    (batch,) = MemoryRecords(written)
    (control,) = batch
    assert batch.is_control_batch
    assert (control.commit, control.abort) == (True, False)


@pytest.mark.parametrize(("magic", "compression"), LEGACY)
def test_legacy_formats(magic: int, compression: Compression) -> None:
    require_codec(compression)
    builder = LegacyRecordBatchBuilder(magic, int(compression), BATCH_BYTES)
    plain = [record._replace(headers=()) for record in counted_from_0()]
    for record in plain:
        builder.append(record.offset, record.timestamp_ms, record.key, record.value)
    written = bytearray(builder.build())
    if compression and magic:
        struct.pack_into(">q", written, 0, len(plain) - 1)  # as a broker does
    untimed = [record._replace(timestamp_ms=-1) for record in plain]
    assert list(read_records(written)) == (plain if magic else untimed)


def test_batches_in_a_row() -> None:
    for compression in CODECS:
        require_codec(compression)
    written = b"".join(written_by_kafka_python(one, NO_PRODUCER) for one in CODECS)
    assert [batch.header.compression for batch in batches(written)] == list(CODECS)
    assert list(read_records(written)) == counted_from_0() * len(CODECS)
