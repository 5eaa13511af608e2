"""Segments to rows, in Spark's tasks: their batches, their records, or what is wrong with them.

Each function takes Arrow batches of segments (`SEGMENT_DDL`) and gives Arrow batches of rows, as
`DataFrame.mapInArrow` wants it. A segment that cannot be read to its end gives what comes before
the damage and one more row that says so; a torn last batch of a partition may be one that is being
written and is passed over.

Not here: what is made of the rows (jobs.py).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from snakka.pipeline.segments.integrity import check_segment, is_torn
from snakka.pipeline.segments.listing import SegmentFile
from snakka.protocol.errors import MalformedError
from snakka.protocol.records.arrow import to_record_batch
from snakka.protocol.records.batch import Batch
from snakka.protocol.records.columns import decode_columns
from snakka.storage.disk import LocalDisk
from snakka.storage.names import LOG_SUFFIX
from snakka.storage.scan import has_intact_batch, read_batch, scan_headers

Rows = Iterator[pa.RecordBatch]

ROWS_PER_BATCH: Final = 65536
KEY_BYTES_MAX: Final = 256  # of a key that is shown
COLUMNS_BYTES: Final = 4 << 20

SEGMENT_DDL: Final = (
    "topic STRING, partition INT, base_offset BIGINT, stem STRING, size_bytes BIGINT,"
    " is_last BOOLEAN"
)
BATCH_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("stem", pa.string()),
        ("size_bytes", pa.int64()),
        ("record_count", pa.int64()),
        ("codec", pa.string()),
        ("max_timestamp_ms", pa.int64()),
        ("is_control", pa.bool_()),
        ("is_damaged", pa.bool_()),
    ]
)
RECORD_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("key", pa.binary()),
        ("size_bytes", pa.int64()),
        ("is_tombstone", pa.bool_()),
        ("is_damaged", pa.bool_()),
    ]
)
REPORT_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("base_offset", pa.int64()),
        ("stem", pa.string()),
        ("size_bytes", pa.int64()),
        ("batch_count", pa.int64()),
        ("record_count", pa.int64()),
        ("missing_offset_count", pa.int64()),
        ("next_offset", pa.int64()),
        (
            "problems",
            pa.list_(
                pa.field(
                    "element",
                    pa.struct(
                        [("path", pa.string()), ("position", pa.int64()), ("reason", pa.string())]
                    ),
                )
            ),
        ),
    ]
)


def batch_rows(segments: Iterable[pa.RecordBatch]) -> Rows:
    """A row for each batch."""
    return _in_batches(BATCH_SCHEMA, _each(segments, _batches_of))


def record_rows(segments: Iterable[pa.RecordBatch]) -> Rows:
    """A row for each record, without its value; control records are left out."""
    for segment in _segments(segments):
        yield from _records_of(segment)


def report_rows(segments: Iterable[pa.RecordBatch]) -> Rows:
    """A row for each segment: what it holds, and what is wrong with it."""
    return _in_batches(REPORT_SCHEMA, _each(segments, _report_of))


def _batches_of(segment: SegmentFile) -> Iterator[tuple[Any, ...]]:
    where = (segment.topic, segment.partition, segment.stem)
    reading = _Reading(segment)
    for batch in reading.batches(with_records=False):
        header = batch.header
        yield (
            *where,
            header.size_bytes,
            header.record_count,
            header.compression.name.lower(),
            header.max_timestamp,
            header.is_control,
            False,
        )
    if reading.is_damaged:
        yield *where, 0, 0, None, None, False, True


def _records_of(segment: SegmentFile) -> Rows:
    reading = _Reading(segment)
    batches = reading.batches(with_records=True)
    try:
        for columns in decode_columns(batches, columns_bytes=COLUMNS_BYTES):
            if columns.row_count:
                yield _record_batch(segment, to_record_batch(columns))
    except MalformedError:  # the records of a batch, whose checksum is right
        reading.is_damaged = True
    if reading.is_damaged:
        damaged = (segment.topic, segment.partition, None, None, 0, False, True)
        yield from _in_batches(RECORD_SCHEMA, iter([damaged]))


def _record_batch(segment: SegmentFile, decoded: pa.RecordBatch) -> pa.RecordBatch:
    rows = decoded.num_rows
    key, value = decoded.column("key"), decoded.column("value")
    sizes = [pc.fill_null(pc.binary_length(each), 0) for each in (key, value)]
    arrays = [
        pa.repeat(pa.scalar(segment.topic), rows),
        pa.repeat(pa.scalar(segment.partition, pa.int32()), rows),
        decoded.column("offset"),
        pc.binary_slice(key, 0, KEY_BYTES_MAX),
        pc.add(*sizes).cast(pa.int64()),
        pc.is_null(value),
        pa.repeat(pa.scalar(False), rows),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=RECORD_SCHEMA)


def _report_of(segment: SegmentFile) -> Iterator[tuple[Any, ...]]:
    report = check_segment(LocalDisk(), segment.stem, segment.base_offset, is_last=segment.is_last)
    yield (
        segment.topic,
        segment.partition,
        segment.base_offset,
        segment.stem,
        segment.size_bytes,
        report.batch_count,
        report.record_count,
        report.missing_offset_count,
        report.next_offset,
        [each._asdict() for each in report.problems],
    )


class _Reading:
    """The batches of a segment up to its end, or to its damage."""

    def __init__(self, segment: SegmentFile) -> None:
        self._segment = segment
        self.is_damaged = False

    def batches(self, *, with_records: bool) -> Iterator[Batch]:
        file = LocalDisk().open(self._segment.stem + LOG_SUFFIX)
        size_bytes = file.size()
        position, next_offset = 0, self._segment.base_offset
        try:
            for at, header in scan_headers(file, 0, size_bytes):
                batch = Batch(header, memoryview(b""))
                if with_records and not header.is_control:
                    batch = read_batch(file, at, header)
                    batch.verify_crc()
                yield batch
                position, next_offset = at + header.size_bytes, header.next_offset
        except MalformedError:
            may_be_torn = self._segment.is_last and is_torn(file, position, size_bytes)
            is_followed = has_intact_batch(file, position, size_bytes, next_offset)
            self.is_damaged = is_followed or not may_be_torn


def _segments(batches: Iterable[pa.RecordBatch]) -> Iterator[SegmentFile]:
    for batch in batches:
        for row in batch.to_pylist():
            yield SegmentFile(**row)


def _each(
    batches: Iterable[pa.RecordBatch],
    rows_of: Callable[[SegmentFile], Iterator[tuple[Any, ...]]],
) -> Iterator[tuple[Any, ...]]:
    for segment in _segments(batches):
        yield from rows_of(segment)


def _in_batches(schema: pa.Schema, rows: Iterator[tuple[Any, ...]]) -> Rows:
    pending: list[tuple[Any, ...]] = []
    for row in rows:
        pending.append(row)
        if len(pending) == ROWS_PER_BATCH:
            yield _batch(schema, pending)
            pending = []
    if pending:
        yield _batch(schema, pending)


def _batch(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
