"""Formats v0 and v1: read as kafka-python writes them, and refused where they are damaged."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import NO_TIMESTAMP, CorruptBatchError
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.compression import Compression, compress
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.legacy import read_legacy_records, read_records
from snakka.protocol.records.record import Record
from tests.protocol.records.kafka_python import LegacyRecordBatchBuilder
from tests.protocol.records.samples import RECORDS, STEADY, TIMESTAMP_MS, damaged

ROWS = [(b"key", b"value"), (None, b"no key"), (b"tombstone", None), (b"", b""), (b"k", b"v" * 900)]
LOG_APPEND_TIME_BIT = 8


def message(
    offset: int,
    key: bytes | None,
    value: bytes | None,
    *,
    magic: int = 1,
    attributes: int = 0,
    timestamp_ms: int = TIMESTAMP_MS,
) -> bytes:
    body = struct.pack(">bb", magic, attributes)
    if magic:
        body += struct.pack(">q", timestamp_ms)
    for field in (key, value):
        body += struct.pack(">i", -1 if field is None else len(field)) + (field or b"")
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def wrapper(
    offset: int, codec: Compression, inner: bytes, *, magic: int = 1, attributes: int = 0
) -> bytes:
    packed = bytes(compress(codec, inner))
    return message(offset, None, packed, magic=magic, attributes=codec | attributes)


def messages(magic: int = 1, first_offset: int = 0) -> bytes:
    return b"".join(
        message(first_offset + index, key, value, magic=magic)
        for index, (key, value) in enumerate(ROWS)
    )


def expected(magic: int = 1, first_offset: int = 0) -> list[Record]:
    timestamp_ms = TIMESTAMP_MS if magic else NO_TIMESTAMP
    return [
        Record(first_offset + index, timestamp_ms, key, value)
        for index, (key, value) in enumerate(ROWS)
    ]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_what_kafka_python_wrote(magic: int, codec: Compression) -> None:
    builder = LegacyRecordBatchBuilder(magic, int(codec), 1 << 20)
    for index, (key, value) in enumerate(ROWS):
        builder.append(index, TIMESTAMP_MS, key, value)
    written = bytearray(builder.build())
    if codec is Compression.NONE:
        assert written == messages(magic)
    elif magic == 1:
        struct.pack_into(">q", written, 0, len(ROWS) - 1)  # as a broker does, beside the checksum
    assert list(read_legacy_records(written)) == expected(magic)


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_inner_offsets_of_v1_count_back_from_the_wrappers(codec: Compression) -> None:
    wrapped = wrapper(104, codec, messages())
    assert list(read_legacy_records(wrapped)) == expected(first_offset=100)


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.SNAPPY])
def test_inner_offsets_of_v0_are_absolute(codec: Compression) -> None:
    wrapped = wrapper(104, codec, messages(0, first_offset=100), magic=0)
    assert list(read_legacy_records(wrapped)) == expected(0, first_offset=100)


def test_both_checksums_of_an_lz4_frame_in_v0_are_read() -> None:
    frame = bytearray(compress(Compression.LZ4, messages(0)))
    assert frame[4:7].hex() == "604082"
    # What the producers of v0 wrote instead: XXH32 over the frame's magic as well.
    for checksum in (0x82, 0x1A, 0x00):
        frame[6] = checksum
        wrapped = message(4, None, bytes(frame), magic=0, attributes=Compression.LZ4)
        assert list(read_legacy_records(wrapped)) == expected(0)
        if checksum != 0x82:
            wrapped = message(4, None, bytes(frame), magic=1, attributes=Compression.LZ4)
            with pytest.raises(MalformedError):
                list(read_legacy_records(wrapped))


def test_the_wrappers_log_append_time_counts_for_all() -> None:
    wrapped = wrapper(4, Compression.GZIP, messages(), attributes=LOG_APPEND_TIME_BIT)
    assert list(read_legacy_records(wrapped)) == expected()
    stamped = message(
        4,
        None,
        zlib.compress(messages(), wbits=31),
        attributes=Compression.GZIP | LOG_APPEND_TIME_BIT,
        timestamp_ms=77,
    )
    assert {record.timestamp_ms for record in read_legacy_records(stamped)} == {77}


def test_all_formats_in_one_buffer() -> None:
    marker = build_end_txn_batch(
        EndTxnMarker(ControlType.COMMIT, 0), timestamp_ms=1, producer_id=1, producer_epoch=0
    )
    buffer = b"".join(
        (messages(0), wrapper(9, Compression.GZIP, messages()), marker, build_batch(RECORDS))
    )
    assert list(read_records(buffer)) == [*expected(0), *expected(first_offset=5), *RECORDS]


def test_a_partial_tail_may_be_passed_over() -> None:
    buffer = messages() + build_batch(RECORDS)
    for size in range(len(messages()), len(buffer), 61):
        read = list(read_records(buffer[:size], ignore_partial_tail=True))
        assert read == expected()
        if size > len(messages()):
            with pytest.raises(MalformedError):
                list(read_records(buffer[:size]))


@pytest.mark.parametrize("whole", [messages(0), messages(1), wrapper(4, Compression.GZIP, b"")])
def test_a_message_cut_anywhere_is_refused(whole: bytes) -> None:
    boundaries = {0}
    while (start := max(boundaries)) < len(whole):
        boundaries.add(start + 12 + struct.unpack_from(">i", whole, start + 8)[0])
    for size in set(range(len(whole))) - boundaries:
        for read in (read_legacy_records, read_records):
            with pytest.raises(MalformedError):
                list(read(whole[:size]))


def test_a_changed_byte_is_noticed_by_the_checksum() -> None:
    whole = message(0, b"key", b"value" * 20)
    for position in range(12, len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 0x40
        with pytest.raises(MalformedError):
            list(read_records(bytes(changed)))
    with pytest.raises(CorruptBatchError):
        list(read_legacy_records(bytes(changed)))


GZIP_ID, LZ4_ID, ZSTD_ID = 1, 3, 4


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(message(0, b"k", b"v", magic=3), id="magic of the future"),
        pytest.param(message(0, b"k", None, attributes=GZIP_ID), id="compressed null"),
        pytest.param(message(0, b"k", b"", attributes=GZIP_ID), id="compressed nothing"),
        pytest.param(wrapper(0, Compression.GZIP, b""), id="compressed emptiness"),
        pytest.param(wrapper(0, Compression.GZIP, messages(0)), id="v0 in v1"),
        pytest.param(
            wrapper(0, Compression.GZIP, wrapper(0, Compression.GZIP, messages())), id="twice"
        ),
        pytest.param(wrapper(0, Compression.GZIP, build_batch(RECORDS)), id="v2 in v1"),
        pytest.param(message(0, None, b"", attributes=ZSTD_ID), id="zstd, which v1 has not"),
        pytest.param(message(0, None, b"\4\x22\x4d\x18", magic=0, attributes=LZ4_ID), id="lz4 v0"),
        pytest.param(messages()[:-1], id="cut"),
        pytest.param(struct.pack(">qi", 0, -1) + bytes(20), id="negative size"),
        pytest.param(struct.pack(">qi", 0, 0) + bytes(20), id="no size"),
        pytest.param(struct.pack(">qi", 0, (1 << 31) - 1) + bytes(20), id="huge size"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    for read in (read_records, read_legacy_records):
        with pytest.raises(MalformedError):
            list(read(data))


@pytest.mark.parametrize("size", [-2, -(1 << 31), 2, (1 << 31) - 1])
def test_a_field_lies_within_its_message(size: int) -> None:
    body = struct.pack(">bbq", 1, 0, 0) + struct.pack(">i", size) + b"k" + struct.pack(">i", -1)
    data = struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body
    with pytest.raises(MalformedError):
        list(read_legacy_records(data))


def test_a_bomb_in_a_wrapper_stays_below_the_limit() -> None:
    wrapped = wrapper(0, Compression.GZIP, message(0, None, bytes(1 << 20)))
    assert len(list(read_records(wrapped, limit_bytes=2 << 20))) == 1
    for read in (read_records, read_legacy_records):
        with pytest.raises(MalformedError, match="more than"):
            list(read(wrapped, limit_bytes=1 << 20))


@STEADY
@given(
    st.data(), st.sampled_from([messages(0), messages(1), wrapper(4, Compression.GZIP, messages())])
)
def test_damage_is_refused_or_harmless(data: st.DataObject, whole: bytes) -> None:
    try:
        list(read_records(data.draw(damaged(whole)), limit_bytes=10_000))
    except MalformedError:
        return
