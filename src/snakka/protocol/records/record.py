"""One record of format v2, and its zigzag varints: encoding and decoding in pure Python.

Decoding trusts nothing: lengths are checked against the record, the record against the bytes, and
the offsets against what the batch header promises. Only `MalformedError` comes out.

Not here: the batch around the records (batch.py), the columnar decoder (columns.py).
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.types import Buffer

_INT32_BITS: Final = 32
_INT64_BITS: Final = 64
_HEADER_BYTES_MIN: Final = 2
_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1

Header = tuple[str, bytes | None]


class Record(NamedTuple):
    """A record with its absolute offset. A tuple, since millions of them are made a second."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


def append_varint(out: bytearray, value: int) -> None:
    """Appends a zigzag varint: int32 lengths and deltas as well as int64 timestamps."""
    bits = (value << 1) ^ (value >> 63)
    while bits > 127:
        out.append(bits & 127 | 128)
        bits >>= 7
    out.append(bits)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The int32 zigzag varint at `position` and the position after it."""
    if position + 1 < len(data):
        encoded = data[position]
        if encoded < 128:
            return (encoded >> 1) ^ -(encoded & 1), position + 1
        second = data[position + 1]
        if second < 128:
            return (encoded & 127 | second << 7) >> 1 ^ -(encoded & 1), position + 2
    encoded, after = _read_long(data, position, _INT32_BITS)
    return (encoded >> 1) ^ -(encoded & 1), after


def read_varlong(data: bytes, position: int) -> tuple[int, int]:
    """The int64 zigzag varint at `position` and the position after it."""
    encoded, after = _read_long(data, position, _INT64_BITS)
    return (encoded >> 1) ^ -(encoded & 1), after


def _read_long(data: bytes, position: int, bits_max: int) -> tuple[int, int]:
    """A varint of any length, still in zigzag form."""
    start = position
    encoded = 0
    for shift in range(0, bits_max, 7):
        if position >= len(data):
            raise MalformedError("varint", start, "truncated")
        byte = data[position]
        position += 1
        encoded |= (byte & 127) << shift
        if byte < 128:
            if encoded >> bits_max:
                break
            return encoded, position
    raise MalformedError("varint", start, f"more than {bits_max} bits")


def _read_more(data: bytes, position: int, first: int, bits_max: int) -> tuple[int, int]:
    """The rest of a varint whose `first` byte, already read, says that more follow."""
    second = data[position]
    if second < 128:
        return first & 127 | second << 7, position + 1
    return _read_long(data, position - 1, bits_max)


def append_record(out: bytearray, record: Record, base_offset: int, base_timestamp: int) -> None:
    """Appends `record` as a batch that starts at these bases holds it."""
    body = bytearray(1)
    append_varint(body, record.timestamp_ms - base_timestamp)
    append_varint(body, record.offset - base_offset)
    _append_nullable(body, record.key)
    _append_nullable(body, record.value)
    append_varint(body, len(record.headers))
    for key, value in record.headers:
        _append_nullable(body, key.encode())
        _append_nullable(body, value)
    append_varint(out, len(body))
    out += body


def _append_nullable(out: bytearray, data: bytes | None) -> None:
    if data is None:
        out.append(1)
    else:
        append_varint(out, len(data))
        out += data


def decode_records(
    section: Buffer,
    *,
    count: int,
    base_offset: int,
    last_offset_delta: int,
    base_timestamp: int,
    log_append_time: int | None = None,
) -> Iterator[Record]:
    """The `count` records that fill `section`, whose offsets lie in the batch's range."""
    data = bytes(section)
    position = 0
    new = tuple.__new__  # a third of the cost of calling Record, per record
    try:
        for _ in range(count):
            start = position
            size = data[position]
            position += 1
            if size > 127:
                size, position = _read_more(data, position, size, _INT32_BITS)
            end = position + (size >> 1)
            if size & 1 or end > len(data):
                raise MalformedError("record", start, "longer than the bytes left")
            delta = data[position + 1]  # after the attributes, which are unused
            position += 2
            if delta > 127:
                delta, position = _read_more(data, position, delta, _INT64_BITS)
            timestamp = base_timestamp + ((delta >> 1) ^ -(delta & 1))
            delta = data[position]
            position += 1
            if delta > 127:
                delta, position = _read_more(data, position, delta, _INT32_BITS)
            key, position = _read_nullable(data, position)
            value, position = _read_nullable(data, position)
            headers: tuple[Header, ...] = ()
            if data[position]:
                headers, position = _read_headers(data, position, end)
            else:
                position += 1
            if position != end:
                raise MalformedError("record", start, "its fields do not fill it exactly")
            if delta & 1 or delta >> 1 > last_offset_delta:
                raise MalformedError("record", start, "offset outside of its batch")
            if log_append_time is not None:
                timestamp = log_append_time
            elif not _INT64_MIN <= timestamp <= _INT64_MAX:
                raise MalformedError("record", start, "timestamp out of range")
            yield new(Record, (base_offset + (delta >> 1), timestamp, key, value, headers))
    except IndexError:
        raise MalformedError("record", position, "truncated") from None
    if position != len(data):
        raise MalformedError("record batch", position, f"{len(data) - position} bytes too many")


def _read_nullable(data: bytes, position: int) -> tuple[bytes | None, int]:
    """A field that may reach beyond the record: the caller compares where it ends."""
    size = data[position]
    position += 1
    if size > 127:
        second = data[position]
        if second < 128:
            size = size & 127 | second << 7
            position += 1
        else:
            size, position = _read_long(data, position - 1, _INT32_BITS)
    if size & 1:
        if size != 1:
            raise MalformedError("record", position, "negative length")
        return None, position
    after = position + (size >> 1)
    return data[position:after], after


def _read_headers(data: bytes, position: int, end: int) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(data, position)
    if not 0 <= count <= (end - position) // _HEADER_BYTES_MIN:
        raise MalformedError("record", position, f"{count} headers")
    headers = []
    for _ in range(count):
        start = position
        key, position = _read_nullable(data, position)
        value, position = _read_nullable(data, position)
        if key is None or position > end:
            raise MalformedError("record header", start, "null key or beyond its record")
        try:
            headers.append((key.decode(), value))
        except UnicodeDecodeError:
            raise MalformedError("record header", start, "its key is not UTF-8") from None
    return tuple(headers), position
