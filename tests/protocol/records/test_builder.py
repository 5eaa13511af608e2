"""Writing batches: what the header says of the records, and what rewriting leaves alone."""

import pytest
from hypothesis import given

from snakka.protocol.records.batch import DELETE_HORIZON_BIT, TimestampType, seal
from snakka.protocol.records.builder import build_batch, build_empty_batch, recompress
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.record import Record
from tests.protocol.records.samples import (
    CODECS,
    RECORDS,
    STEADY,
    TIMESTAMP_MS,
    only_batch,
    records,
)


@STEADY
@given(records())
def test_a_batch_is_read_as_built(made: list[Record]) -> None:
    batch = only_batch(build_batch(made))
    batch.verify_crc()
    assert list(batch.records()) == made


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec(codec: Compression) -> None:
    batch = only_batch(build_batch(RECORDS, compression=codec))
    batch.verify_crc()
    assert batch.header.compression is codec
    assert tuple(batch.records()) == RECORDS


def test_the_header_sums_the_records_up() -> None:
    header = only_batch(build_batch(RECORDS)).header
    assert (header.base_offset, header.last_offset, header.record_count) == (100, 300, 5)
    assert header.base_timestamp == TIMESTAMP_MS
    assert header.max_timestamp == TIMESTAMP_MS + 70_000
    assert header.timestamp_type is TimestampType.CREATE_TIME
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert not header.is_transactional
    assert not header.is_control


def test_a_transactional_batch_names_its_producer() -> None:
    data = build_batch(
        RECORDS, producer_id=9, producer_epoch=3, base_sequence=41, is_transactional=True
    )
    header = only_batch(data).header
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 3, 41)
    assert header.is_transactional


def test_log_append_time_stands_above_the_records_own_timestamps() -> None:
    stamped = only_batch(build_batch(RECORDS, log_append_time=5))
    assert stamped.header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert stamped.header.max_timestamp == 5
    assert {record.timestamp_ms for record in stamped.records()} == {5}
    assert stamped.section() == only_batch(build_batch(RECORDS)).section()


def test_a_batch_has_records_and_their_offsets_rise() -> None:
    with pytest.raises(ValueError, match="at least one"):
        build_batch([])
    for second in (99, 100):
        with pytest.raises(ValueError, match="does not rise"):
            build_batch([RECORDS[0], RECORDS[0]._replace(offset=second)])


def test_an_empty_batch_keeps_offsets_and_producer() -> None:
    full = only_batch(
        build_batch(
            RECORDS,
            compression=Compression.ZSTD,
            producer_id=9,
            producer_epoch=3,
            base_sequence=4,
        )
    )
    header = full.header._replace(attributes=full.header.attributes | DELETE_HORIZON_BIT)
    empty = only_batch(build_empty_batch(header))
    empty.verify_crc()
    assert list(empty.records()) == []
    assert empty.header.compression is Compression.NONE
    assert not empty.header.has_delete_horizon
    kept = ("base_offset", "last_offset", "max_timestamp", "producer_id", "base_sequence")
    assert [getattr(empty.header, name) for name in kept] == [
        getattr(full.header, name) for name in kept
    ]


@pytest.mark.parametrize("before", CODECS)
@pytest.mark.parametrize("after", CODECS)
def test_recompression_changes_the_codec_alone(before: Compression, after: Compression) -> None:
    batch = only_batch(build_batch(RECORDS, compression=before, producer_id=9, leader_epoch=2))
    again = only_batch(recompress(batch, after))
    again.verify_crc()
    assert again.header.compression is after
    assert tuple(again.records()) == RECORDS
    unchanged = {"batch_length": 0, "crc": 0, "attributes": 0}
    assert again.header._replace(**unchanged) == batch.header._replace(**unchanged)


def test_sealing_computes_length_and_crc() -> None:
    whole = build_batch(RECORDS)
    batch = only_batch(whole)
    assert seal(batch.header._replace(batch_length=0, crc=1), batch.section()) == whole
