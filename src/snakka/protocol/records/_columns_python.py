"""The pure-Python twin of _columns.pyx: the same columns and spans, with record.py as the judge.

It serves where the extension is not built, and in the tests it is what the extension must equal.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import BatchHeader
from snakka.protocol.records.column_buffers import (
    COLUMN_BYTES_MAX,
    BinaryColumn,
    Columns,
    KeySpan,
)
from snakka.protocol.records.record import Header, decode_records, read_varint, read_varlong
from snakka.protocol.types import Buffer

_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1


class ColumnsBuilder:
    """Gathers the records of many batches. After an error it is of no further use."""

    def __init__(self) -> None:
        self._start_anew()

    def _start_anew(self) -> None:
        self.size_bytes = 0  # of the sections appended: no column's data can be larger
        self._offsets = array("q")
        self._timestamps = array("q")
        self._keys: list[bytes | None] = []
        self._values: list[bytes | None] = []
        self._headers: list[tuple[Header, ...]] = []

    def append(
        self, header: BatchHeader, section: Buffer, start_offset: int, end_offset: int
    ) -> None:
        """Adds the records of a batch from `start_offset` on and before `end_offset`."""
        self.size_bytes += len(section)
        if self.size_bytes > COLUMN_BYTES_MAX:
            raise MalformedError("record batch", 0, f"over {COLUMN_BYTES_MAX} bytes of records")
        put_offset, put_timestamp = self._offsets.append, self._timestamps.append
        put_key, put_value = self._keys.append, self._values.append
        put_headers = self._headers.append
        # Field by field: a list of records would be too much for the garbage collector to watch.
        for offset, timestamp_ms, key, value, headers in decode_records(
            section,
            count=header.record_count,
            base_offset=header.base_offset,
            last_offset_delta=header.last_offset_delta,
            base_timestamp=header.base_timestamp,
            log_append_time=header.log_append_time,
        ):
            if start_offset <= offset < end_offset:
                put_offset(offset)
                put_timestamp(timestamp_ms)
                put_key(key)
                put_value(value)
                put_headers(headers)

    def finish(self, next_offset: int) -> Columns:
        """The columns of what was appended; the builder starts anew."""
        pairs = [pair for headers in self._headers for pair in headers]
        columns = Columns(
            row_count=len(self._offsets),
            offsets=self._offsets.tobytes(),
            timestamps=self._timestamps.tobytes(),
            keys=_binary_column(self._keys),
            values=_binary_column(self._values),
            header_bounds=_bounds(self._headers),
            header_keys=_binary_column([key.encode() for key, _ in pairs]),
            header_values=_binary_column([value for _, value in pairs]),
            next_offset=next_offset,
        )
        self._start_anew()
        return columns


def _binary_column(items: Sequence[bytes | None]) -> BinaryColumn:
    filled = [item for item in items if item is not None]
    null_count = len(items) - len(filled)
    if not null_count:
        return BinaryColumn(b"", _bounds(filled), b"".join(filled), 0)
    bounds = _bounds([item or b"" for item in items])
    return BinaryColumn(_validity(items), bounds, b"".join(filled), null_count)


def _bounds(items: Sequence[Sequence[object]]) -> bytes:
    return array("i", accumulate(map(len, items), initial=0)).tobytes()


def _validity(items: Sequence[bytes | None]) -> bytes:
    bits = "".join("0" if item is None else "1" for item in reversed(items))
    return int(bits, 2).to_bytes((len(items) + 7) // 8, "little")


def scan_keys(header: BatchHeader, section: Buffer) -> list[KeySpan]:
    """The key of every record of a batch, and where in the section the record lies.

    Headers are not looked at, so that a record with damaged ones does not stop compaction.
    """
    data = bytes(section)
    base_offset, last_offset_delta = header.base_offset, header.last_offset_delta
    base_timestamp, log_append_time = header.base_timestamp, header.log_append_time
    spans = []
    position = 0
    for _ in range(header.record_count):
        start = position
        size, position = read_varint(data, position)
        end = position + size
        timestamp_delta, position = read_varlong(data, position + 1)
        offset_delta, position = read_varint(data, position)
        key_size, key_start = read_varint(data, position)
        key_end = key_start + key_size if key_size > 0 else key_start
        value_size, position = read_varint(data, key_end)
        if value_size > 0:
            position += value_size
        if min(size, offset_delta, key_size + 1, value_size + 1) < 0:
            raise MalformedError("record", start, "negative length or offset")
        if not position < end <= len(data) or offset_delta > last_offset_delta:
            raise MalformedError("record", start, "its fields do not fit it, or it not the batch")
        key = None if key_size == -1 else data[key_start:key_end]
        timestamp_ms = _timestamp(base_timestamp + timestamp_delta, log_append_time)
        offset = base_offset + offset_delta
        spans.append(KeySpan(offset, timestamp_ms, key, value_size == -1, start, end))
        position = end
    if position != len(data):
        raise MalformedError("record batch", position, f"{len(data) - position} bytes too many")
    return spans


def _timestamp(create_time: int, log_append_time: int | None) -> int:
    if log_append_time is not None:
        return log_append_time
    if not _INT64_MIN <= create_time <= _INT64_MAX:
        raise MalformedError("record", 0, "timestamp out of range")
    return create_time
