"""The columnar decoder and the key scan: both twins, run through the same tests."""

import mmap
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.records import _columns_python, columns
from snakka.protocol.records.batch import Batch, TimestampType, batches, seal, set_max_timestamp
from snakka.protocol.records.builder import build_batch, build_empty_batch, build_end_txn_batch
from snakka.protocol.records.column_buffers import COLUMN_BYTES_MAX, BinaryColumn, Columns, KeySpan
from snakka.protocol.records.columns import decode_columns
from snakka.protocol.records.compression import Compression
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record
from snakka.protocol.types import Buffer
from tests.protocol.records.samples import (
    CODECS,
    RECORDS,
    STEADY,
    TIMESTAMP_MS,
    batch_bytes,
    only_batch,
)
from tests.protocol.records.twins import Twin, compiled

COMMIT = build_end_txn_batch(
    EndTxnMarker(ControlType.COMMIT, 0),
    timestamp_ms=1,
    producer_id=1,
    producer_epoch=0,
    base_offset=301,
)
MINIMAL_RECORD = bytes.fromhex("0c 00 00 00 01 01 00")


@pytest.fixture(params=["compiled", "python"], scope="module")
def twin(request: pytest.FixtureRequest) -> Twin:
    return compiled() if request.param == "compiled" else _columns_python


def decode(twin: Twin, *data: bytes, **options: Any) -> list[Columns]:
    read = [batch for whole in data for batch in batches(whole)]
    return list(decode_columns(read, builder=twin.ColumnsBuilder(), **options))


def integers(kind: str, buffer: Buffer) -> Sequence[int]:
    return array(kind, bytes(buffer))


def elements(column: BinaryColumn) -> list[bytes | None]:
    bounds = integers("i", column.bounds)
    data, validity = bytes(column.data), bytes(column.validity)
    assert bounds[0] == 0
    assert bounds[-1] == len(data)
    found: list[bytes | None] = []
    for index in range(len(bounds) - 1):
        is_null = validity and not validity[index // 8] >> index % 8 & 1
        found.append(None if is_null else data[bounds[index] : bounds[index + 1]])
    assert column.null_count == found.count(None)
    assert len(validity) == ((len(found) + 7) // 8 if column.null_count else 0)
    return found


def rows(decoded: Columns) -> list[Record]:
    """The columns turned back into records."""
    keys, values = elements(decoded.header_keys), elements(decoded.header_values)
    pairs = [((key or b"").decode(), value) for key, value in zip(keys, values, strict=True)]
    bounds = integers("i", decoded.header_bounds)
    found = [
        Record(offset, timestamp_ms, key, value, tuple(pairs[bounds[index] : bounds[index + 1]]))
        for index, (offset, timestamp_ms, key, value) in enumerate(
            zip(
                integers("q", decoded.offsets),
                integers("q", decoded.timestamps),
                elements(decoded.keys),
                elements(decoded.values),
                strict=True,
            )
        )
    ]
    assert decoded.row_count == len(found) == len(bounds) - 1
    assert bounds[-1] == len(pairs)
    return found


def all_rows(decoded: Iterable[Columns]) -> list[Record]:
    return [row for one in decoded for row in rows(one)]


def test_the_package_takes_the_compiled_twin_when_it_is_built() -> None:
    assert columns.scan_keys is compiled().scan_keys
    assert columns.IS_COMPILED


@STEADY
@given(st.lists(batch_bytes(), min_size=1, max_size=4), st.integers(1, 2000))
def test_columns_hold_what_the_records_do(
    twin: Twin, made: list[bytes], columns_bytes: int
) -> None:
    expected = [record for data in made for record in only_batch(data).records()]
    assert all_rows(decode(twin, *made, columns_bytes=columns_bytes)) == expected
    assert all_rows(decode(twin, *made)) == expected


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec(twin: Twin, codec: Compression) -> None:
    (decoded,) = decode(twin, build_batch(RECORDS, compression=codec))
    assert tuple(rows(decoded)) == RECORDS


@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 1000])
def test_validity_bitmaps_of_any_length(twin: Twin, count: int) -> None:
    made = [
        Record(index, 0, None if index % 3 else b"k", b"v" if index % 5 else None)
        for index in range(count)
    ]
    (decoded,) = decode(twin, build_batch(made))
    assert rows(decoded) == made
    (decoded,) = decode(twin, build_batch([record._replace(key=b"") for record in made]))
    assert decoded.keys.validity == b""


def test_log_append_time_is_every_rows_timestamp(twin: Twin) -> None:
    stamped = bytearray(build_batch(RECORDS))
    set_max_timestamp(stamped, TimestampType.LOG_APPEND_TIME, 77)
    (decoded,) = decode(twin, bytes(stamped))
    assert list(integers("q", decoded.timestamps)) == [77] * 5
    assert [span.timestamp_ms for span in scan(twin, only_batch(bytes(stamped)))] == [77] * 5


def test_columns_are_bounded_by_the_bytes_of_records(twin: Twin) -> None:
    made = [build_batch([Record(index, TIMESTAMP_MS, None, bytes(1000))]) for index in range(10)]
    assert [one.row_count for one in decode(twin, *made, columns_bytes=3200)] == [3, 3, 3, 1]
    assert [one.row_count for one in decode(twin, *made, columns_bytes=100)] == [1] * 10
    assert [one.next_offset for one in decode(twin, *made, columns_bytes=3200)] == [3, 6, 9, 10]


def test_columns_are_made_one_after_another(twin: Twin) -> None:
    made = build_batch(RECORDS) + build_batch([Record(400, 0, None, None)])
    stream = decode_columns(batches(made), columns_bytes=1, builder=twin.ColumnsBuilder())
    first = next(stream)
    kept = rows(first)
    assert [row.offset for row in rows(next(stream))] == [400]
    assert rows(first) == kept == list(RECORDS)


@pytest.mark.parametrize("columns_bytes", [0, -1, COLUMN_BYTES_MAX + 1])
def test_bounds_of_columns_are_int32(twin: Twin, columns_bytes: int) -> None:
    with pytest.raises(ValueError, match="columns_bytes"):
        decode(twin, columns_bytes=columns_bytes)


def test_a_builder_takes_no_more_than_its_bounds_can_say(twin: Twin) -> None:
    header = only_batch(build_batch(RECORDS)).header
    with (
        mmap.mmap(-1, COLUMN_BYTES_MAX + 1) as untouched,
        memoryview(untouched) as section,
        pytest.raises(MalformedError, match="bytes of records"),
    ):
        twin.ColumnsBuilder().append(header, section, 0, 1 << 62)


def test_no_batches_are_no_columns(twin: Twin) -> None:
    assert decode(twin) == []


def test_control_batches_are_passed_over_and_counted(twin: Twin) -> None:
    (decoded,) = decode(twin, build_batch(RECORDS), COMMIT)
    assert tuple(rows(decoded)) == RECORDS
    assert decoded.next_offset == 302
    (decoded,) = decode(twin, COMMIT)
    assert rows(decoded) == []
    assert decoded.next_offset == 302


def test_a_batch_emptied_by_compaction_is_counted(twin: Twin) -> None:
    empty = build_empty_batch(only_batch(build_batch(RECORDS)).header)
    (decoded,) = decode(twin, empty)
    assert decoded.row_count == 0
    assert decoded.next_offset == 301
    assert scan(twin, only_batch(empty)) == []


def test_the_caller_chooses_batches_and_sees_all_of_them(twin: Twin) -> None:
    aborted = build_batch([Record(301, 0, None, b"aborted")], producer_id=5, is_transactional=True)
    marker = build_end_txn_batch(
        EndTxnMarker(ControlType.ABORT, 0),
        timestamp_ms=0,
        producer_id=5,
        producer_epoch=0,
        base_offset=302,
    )
    seen: list[int] = []

    def is_committed(batch: Batch) -> bool:
        seen.append(batch.header.base_offset)
        return not batch.header.is_transactional

    (decoded,) = decode(twin, build_batch(RECORDS), aborted, marker, is_wanted=is_committed)
    assert tuple(rows(decoded)) == RECORDS
    assert seen == [100, 301, 302]
    assert decoded.next_offset == 303


@pytest.mark.parametrize(
    ("start", "end", "offsets", "next_offset"),
    [
        (0, 1000, [100, 101, 103, 104, 300], 301),
        (101, 300, [101, 103, 104], 300),
        (102, 104, [103], 104),
        (105, 300, [], 300),
        (301, 1000, [], 301),
        (500, 1000, [], 500),
        (0, 100, [], 100),
    ],
)
def test_only_the_offsets_asked_for(
    twin: Twin, start: int, end: int, offsets: list[int], next_offset: int
) -> None:
    whole = build_batch(RECORDS)
    (decoded,) = decode(twin, whole, start_offset=start, end_offset=end)
    assert rows(decoded) == [record for record in RECORDS if record.offset in offsets]
    assert decoded.next_offset == next_offset


def test_a_limit_on_the_decompressed_size(twin: Twin) -> None:
    bomb = build_batch([Record(0, 0, None, bytes(1 << 20))], compression=Compression.ZSTD)
    with pytest.raises(MalformedError, match="more than"):
        decode(twin, bomb, limit_bytes=1 << 20)


def scan(twin: Twin, batch: Batch) -> list[KeySpan]:
    spans: list[KeySpan] = twin.scan_keys(batch.header, batch.section())
    return spans


@STEADY
@given(batch_bytes())
def test_a_scan_finds_keys_and_whole_records(twin: Twin, whole: bytes) -> None:
    batch = only_batch(whole)
    spans = scan(twin, batch)
    assert [(span.offset, span.timestamp_ms, span.key) for span in spans] == [
        record[:3] for record in batch.records()
    ]
    assert [span.is_tombstone for span in spans] == [
        record.value is None for record in batch.records()
    ]
    assert [span.start for span in spans] == [0, *(span.end for span in spans[:-1])]
    assert spans[-1].end == len(batch.section())


def test_spans_that_are_kept_make_a_batch(twin: Twin) -> None:
    batch = only_batch(build_batch(RECORDS, compression=Compression.LZ4))
    section = batch.section()
    kept = [span for span in scan(twin, batch) if not span.is_tombstone]
    header = batch.header._replace(attributes=0, record_count=len(kept))
    rewritten = seal(header, b"".join(section[span.start : span.end] for span in kept))
    assert list(only_batch(rewritten).records()) == [r for r in RECORDS if r.value is not None]


def test_damaged_headers_do_not_stop_a_scan(twin: Twin) -> None:
    whole = bytearray(build_batch([Record(0, 0, b"k", b"v", (("name", b""),))]))
    whole[-5] = 0xFF  # in the name, which is no UTF-8 any more
    batch = only_batch(bytes(whole))
    assert [span.key for span in scan(twin, batch)] == [b"k"]
    with pytest.raises(MalformedError):
        decode(twin, bytes(whole))


@pytest.mark.parametrize("count", [0, 1, 3, 1 << 20, (1 << 31) - 1])
def test_a_count_that_is_not_that_of_the_records_is_refused(twin: Twin, count: int) -> None:
    header = only_batch(build_batch(RECORDS)).header._replace(record_count=count)
    section = MINIMAL_RECORD * 2
    with pytest.raises(MalformedError):
        twin.ColumnsBuilder().append(header, section, 0, 1 << 62)
    with pytest.raises(MalformedError):
        twin.scan_keys(header, section)
