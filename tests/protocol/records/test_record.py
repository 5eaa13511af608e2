"""Varints and single records: what is written is read, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.record import (
    Header,
    Record,
    append_record,
    append_varint,
    decode_records,
    read_varint,
    read_varlong,
)
from tests.protocol.records.samples import RECORDS, STEADY, records

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


def varint(value: int) -> bytes:
    out = bytearray()
    append_varint(out, value)
    return bytes(out)


def section_of(*made: Record) -> bytes:
    out = bytearray()
    for record in made:
        append_record(out, record, made[0].offset, made[0].timestamp_ms)
    return bytes(out)


def decode(section: bytes, count: int = 1, last_offset_delta: int = 1000) -> list[Record]:
    return list(
        decode_records(
            section,
            count=count,
            base_offset=0,
            last_offset_delta=last_offset_delta,
            base_timestamp=0,
        )
    )


def record_bytes(*fields: bytes) -> bytes:
    body = b"".join(fields)
    return varint(len(body)) + body


@STEADY
@given(INT32)
def test_a_varint_is_read_as_written(value: int) -> None:
    encoded = varint(value)
    assert len(encoded) <= 5
    assert read_varint(b"\xff" + encoded, 1) == (value, 1 + len(encoded))


@STEADY
@given(INT64)
def test_a_varlong_is_read_as_written(value: int) -> None:
    encoded = varint(value)
    assert len(encoded) <= 10
    assert read_varlong(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (64, "8001"), (300, "d804")],
)
def test_varints_are_zigzag(value: int, encoded: str) -> None:
    assert varint(value) == bytes.fromhex(encoded)


@pytest.mark.parametrize(
    "encoded", ["", "80", "ffffffff", "ffffffff1f", "8080808080 00", "ffffffffff0f"]
)
def test_a_varint_is_not_truncated_and_not_over_32_bits(encoded: str) -> None:
    with pytest.raises(MalformedError):
        read_varint(bytes.fromhex(encoded), 0)


@pytest.mark.parametrize("encoded", ["ff" * 9, "ff" * 9 + "02", "80" * 10 + "00"])
def test_a_varlong_is_not_truncated_and_not_over_64_bits(encoded: str) -> None:
    with pytest.raises(MalformedError):
        read_varlong(bytes.fromhex(encoded), 0)


@STEADY
@given(records())
def test_records_are_read_as_written(made: list[Record]) -> None:
    base = made[0]
    decoded = decode_records(
        section_of(*made),
        count=len(made),
        base_offset=base.offset,
        last_offset_delta=made[-1].offset - base.offset,
        base_timestamp=base.timestamp_ms,
    )
    assert list(decoded) == made


def test_a_record_is_a_tuple_with_names() -> None:
    (record,) = decode(section_of(Record(0, 0, b"k", None)))
    assert type(record) is Record
    assert record.headers == ()
    offset, _, key, value, _ = record
    assert (offset, key, value) == (0, b"k", None)


def test_log_append_time_replaces_every_timestamp() -> None:
    made = [record._replace(timestamp_ms=index) for index, record in enumerate(RECORDS)]
    decoded = decode_records(
        section_of(*made),
        count=len(made),
        base_offset=100,
        last_offset_delta=200,
        base_timestamp=0,
        log_append_time=77,
    )
    assert {record.timestamp_ms for record in decoded} == {77}


def test_a_section_cut_anywhere_is_refused() -> None:
    section = section_of(*RECORDS[:4])
    for size in range(len(section)):
        with pytest.raises(MalformedError):
            decode(section[:size], count=4)


def test_the_count_is_neither_too_small_nor_too_large() -> None:
    section = section_of(*RECORDS)
    assert len(decode(section, count=5)) == 5
    for count in (0, 4, 6, (1 << 31) - 1):
        with pytest.raises(MalformedError):
            decode(section, count=count)


def test_an_offset_lies_within_its_batch() -> None:
    section = section_of(Record(0, 0, None, None), Record(7, 0, None, None))
    assert decode(section, count=2, last_offset_delta=7)[1].offset == 7
    with pytest.raises(MalformedError, match="outside"):
        decode(section, count=2, last_offset_delta=6)
    with pytest.raises(MalformedError, match="outside"):
        decode(record_bytes(b"\0", varint(0), varint(-1), varint(-1), varint(-1), varint(0)))


def test_a_timestamp_fits_64_bits() -> None:
    section = record_bytes(b"\0", varint(1), varint(0), varint(-1), varint(-1), varint(0))
    for base_timestamp in ((1 << 63) - 2, -(1 << 63)):
        (record,) = decode_records(
            section, count=1, base_offset=0, last_offset_delta=0, base_timestamp=base_timestamp
        )
        assert record.timestamp_ms == base_timestamp + 1
    with pytest.raises(MalformedError, match="timestamp"):
        list(
            decode_records(
                section,
                count=1,
                base_offset=0,
                last_offset_delta=0,
                base_timestamp=(1 << 63) - 1,
            )
        )


KEY, VALUE, NO_HEADERS = varint(1) + b"k", varint(1) + b"v", varint(0)
START = b"\0" + varint(0) + varint(0)


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(varint(-1) + START + KEY + VALUE + NO_HEADERS, id="negative record length"),
        pytest.param(varint(1 << 30) + START + KEY + VALUE + NO_HEADERS, id="huge record length"),
        pytest.param(record_bytes(START, KEY, VALUE), id="no header count"),
        pytest.param(record_bytes(START, KEY, VALUE, NO_HEADERS, b"\0"), id="byte too many"),
        pytest.param(record_bytes(START, varint(-2), VALUE, NO_HEADERS), id="key length -2"),
        pytest.param(record_bytes(START, KEY, varint(-2), NO_HEADERS), id="value length -2"),
        pytest.param(record_bytes(START, varint(99) + b"k", VALUE, NO_HEADERS), id="long key"),
        pytest.param(record_bytes(START, KEY, varint(99) + b"v", NO_HEADERS), id="long value"),
        pytest.param(record_bytes(START, KEY, VALUE, varint(-1)), id="negative header count"),
        pytest.param(record_bytes(START, KEY, VALUE, varint(1 << 30)), id="huge header count"),
        pytest.param(record_bytes(START, KEY, VALUE, varint(1)), id="missing header"),
        pytest.param(record_bytes(START, KEY, VALUE, varint(1), varint(-1), VALUE), id="null name"),
        pytest.param(
            record_bytes(START, KEY, VALUE, varint(1), varint(1) + b"\xff", VALUE), id="bad UTF-8"
        ),
        pytest.param(
            record_bytes(START, KEY, VALUE, varint(1), varint(3) + b"\xed\xa0\x80", VALUE),
            id="surrogate",
        ),
        pytest.param(
            record_bytes(START, KEY, VALUE, varint(1), KEY, varint(-2)), id="header value length -2"
        ),
    ],
)
def test_what_does_not_fit_is_refused(section: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(section)


def test_a_field_does_not_reach_into_the_next_record() -> None:
    reaching = record_bytes(START, KEY, varint(6) + b"v")
    following = record_bytes(START, KEY, VALUE, NO_HEADERS)
    with pytest.raises(MalformedError):
        decode(reaching + following, count=2)


def test_header_keys_may_repeat_and_keep_their_order() -> None:
    headers: tuple[Header, ...] = (("a", b"1"), ("b", None), ("a", b""))
    (record,) = decode(section_of(Record(0, 0, None, None, headers)))
    assert record.headers == headers
