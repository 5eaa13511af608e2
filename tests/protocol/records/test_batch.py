"""The batch header as a view: what it says, what it refuses, and what is patched in place."""

import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import (
    HEADER_BYTES,
    Batch,
    BatchHeader,
    CorruptBatchError,
    TimestampType,
    assign_offset,
    batches,
    seal,
    set_max_timestamp,
)
from snakka.protocol.records.builder import build_batch, build_empty_batch
from snakka.protocol.records.compression import Compression
from tests.protocol.records.samples import CODECS, RECORDS, STEADY, batch_bytes, only_batch

WHOLE = build_batch(RECORDS)

BATCH_LENGTH = (8, ">i")
ATTRIBUTES = (21, ">h")
LAST_OFFSET_DELTA = (23, ">i")
RECORD_COUNT = (57, ">i")


def with_field(data: bytes, field: tuple[int, str], value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(field[1], changed, field[0], value)
    return bytes(changed)


def resealed(**changes: int) -> Batch:
    """`WHOLE` with another header, whose CRC is right."""
    batch = only_batch(WHOLE)
    return only_batch(seal(batch.header._replace(**changes), batch.section()))


def test_batches_follow_one_another() -> None:
    made = [build_batch(RECORDS, compression=codec) for codec in CODECS]
    read = list(batches(b"".join(made)))
    assert [bytes(batch.data) for batch in read] == made
    assert [batch.header.compression for batch in read] == list(CODECS)
    assert list(batches(b"")) == []


def test_a_batch_is_a_view_not_a_copy() -> None:
    buffer = bytearray(WHOLE)
    (batch,) = batches(buffer)
    buffer[HEADER_BYTES] ^= 1
    assert bytes(batch.data) == bytes(buffer)
    with pytest.raises(CorruptBatchError):
        batch.verify_crc()


def test_the_header_is_read_anywhere_in_a_buffer() -> None:
    header = BatchHeader.read(b"\0" * 5 + WHOLE[:HEADER_BYTES], 5)
    assert header.size_bytes == len(WHOLE)
    assert (header.last_offset, header.next_offset) == (300, 301)


def test_a_partial_tail_is_an_error_unless_it_is_expected() -> None:
    for size in range(len(WHOLE) + 1, 2 * len(WHOLE), 97):
        buffer = (WHOLE + WHOLE)[:size]
        (batch,) = batches(buffer, ignore_partial_tail=True)
        assert bytes(batch.data) == WHOLE
        with pytest.raises(MalformedError):
            list(batches(buffer))


def test_a_header_cut_anywhere_is_refused() -> None:
    for size in range(HEADER_BYTES):
        with pytest.raises(MalformedError):
            BatchHeader.read(WHOLE[:size])
        if size:
            with pytest.raises(MalformedError):
                list(batches(WHOLE[:size]))
    for position in (-1, len(WHOLE), 1 << 40):
        with pytest.raises(MalformedError):
            BatchHeader.read(WHOLE, position)


@pytest.mark.parametrize("length", [-(1 << 31), -13, -1, 0, 48, (1 << 31) - 1])
def test_an_impossible_length_is_refused(length: int) -> None:
    changed = with_field(WHOLE, BATCH_LENGTH, length)
    with pytest.raises(MalformedError):
        list(batches(changed))


@pytest.mark.parametrize("magic", [0, 1, 3, 127, 255])
def test_another_magic_is_refused(magic: int) -> None:
    changed = bytearray(WHOLE)
    changed[16] = magic
    with pytest.raises(MalformedError, match="magic"):
        list(batches(changed))


@pytest.mark.parametrize("delta", [-(1 << 31), -1])
def test_a_negative_last_offset_delta_is_refused(delta: int) -> None:
    with pytest.raises(MalformedError):
        list(batches(with_field(WHOLE, LAST_OFFSET_DELTA, delta)))


def test_offsets_end_with_64_bits() -> None:
    buffer = bytearray(WHOLE)
    assign_offset(buffer, (1 << 63) - 1 - 200, 0)
    assert only_batch(bytes(buffer)).header.last_offset == (1 << 63) - 1
    assign_offset(buffer, (1 << 63) - 200, 0)
    with pytest.raises(MalformedError, match="offsets"):
        list(batches(buffer))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("count", [-1, 0, 4, 6, 1_000_000, (1 << 31) - 1])
def test_a_count_that_is_not_that_of_the_records_is_refused(count: int, codec: Compression) -> None:
    data = with_field(build_batch(RECORDS, compression=codec), RECORD_COUNT, count)
    with pytest.raises(MalformedError):
        [list(batch.records()) for batch in batches(data)]


def test_records_beyond_the_batchs_offsets_are_refused() -> None:
    with pytest.raises(MalformedError, match="outside"):
        list(resealed(last_offset_delta=199).records())


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec_is_refused_when_asked_for(codec: int) -> None:
    batch = only_batch(with_field(WHOLE, ATTRIBUTES, codec))
    with pytest.raises(MalformedError, match="compression"):
        batch.section()


def test_attribute_bits_of_the_future_are_no_error() -> None:
    assert tuple(resealed(attributes=-128).records()) == RECORDS


@STEADY
@given(batch_bytes(), st.data())
def test_every_flipped_bit_after_the_crc_is_noticed(whole: bytes, data: st.DataObject) -> None:
    bit = data.draw(st.integers(17 * 8, len(whole) * 8 - 1))
    damaged = bytearray(whole)
    damaged[bit // 8] ^= 1 << bit % 8
    # A negative count or offset is told before the checksum is looked at.
    with pytest.raises(MalformedError, match=r"CRC32C|impossible"):
        only_batch(bytes(damaged)).verify_crc()


@STEADY
@given(batch_bytes(), st.integers(0, 1 << 62), st.integers(0, (1 << 31) - 1))
def test_offset_and_epoch_are_patched_under_a_valid_crc(
    whole: bytes, base_offset: int, leader_epoch: int
) -> None:
    buffer = bytearray(whole)
    assign_offset(buffer, base_offset, leader_epoch)
    before, after = only_batch(whole), only_batch(bytes(buffer))
    after.verify_crc()
    assert after.header == before.header._replace(
        base_offset=base_offset, leader_epoch=leader_epoch
    )
    moved = base_offset - before.header.base_offset
    assert list(after.records()) == [
        record._replace(offset=record.offset + moved) for record in before.records()
    ]


def test_patching_touches_one_batch_of_many() -> None:
    buffer = bytearray(WHOLE * 3)
    assign_offset(memoryview(buffer), 5000, 7, position=len(WHOLE))
    first, second, third = batches(buffer)
    assert first.data == third.data == WHOLE
    assert (second.header.base_offset, second.header.leader_epoch) == (5000, 7)


@pytest.mark.parametrize("codec", CODECS)
def test_a_broker_stamps_a_batch(codec: Compression) -> None:
    whole = build_batch(RECORDS, compression=codec)
    buffer = bytearray(b"\0\0\0" + whole + b"\xff")
    set_max_timestamp(buffer, TimestampType.LOG_APPEND_TIME, 12345, position=3)
    assert buffer[:3] + buffer[-1:] == b"\0\0\0\xff"
    batch = only_batch(bytes(buffer[3:-1]))
    batch.verify_crc()
    assert batch.header.log_append_time == 12345
    assert {record.timestamp_ms for record in batch.records()} == {12345}

    original = only_batch(whole).header.max_timestamp
    set_max_timestamp(buffer, TimestampType.CREATE_TIME, original, position=3)
    assert bytes(buffer[3:-1]) == whole


def test_a_batch_that_is_cut_is_not_stamped() -> None:
    with pytest.raises(MalformedError):
        set_max_timestamp(bytearray(WHOLE[:-1]), TimestampType.LOG_APPEND_TIME, 1)


def test_control_and_delete_horizon_are_flags() -> None:
    header = resealed(attributes=0x60).header
    assert header.is_control
    assert header.has_delete_horizon
    assert not header.is_transactional


def test_an_empty_batch_has_a_place_and_no_records() -> None:
    empty = build_empty_batch(only_batch(WHOLE).header)
    assert len(empty) == HEADER_BYTES
    read = list(batches(empty + WHOLE))
    assert [list(batch.records()) for batch in read] == [[], list(RECORDS)]


def test_an_empty_batch_has_no_bytes_either() -> None:
    with pytest.raises(MalformedError, match="too many"):
        list(resealed(record_count=0).records())


@STEADY
@given(st.lists(batch_bytes(), max_size=4))
def test_sizes_say_where_the_next_batch_is(made: list[bytes]) -> None:
    read = list(batches(b"".join(made)))
    assert [batch.header.size_bytes for batch in read] == [len(data) for data in made]
    assert all(a.header.next_offset == a.header.last_offset + 1 for a, _ in pairwise(read))
