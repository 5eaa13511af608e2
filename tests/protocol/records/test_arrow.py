"""Columns as Arrow sees them."""

import pytest

from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.columns import decode_columns
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record
from tests.protocol.records.samples import RECORDS

pytest.importorskip("pyarrow", reason="pip install snakka[spark]")

from snakka.protocol.records.arrow import SCHEMA, to_record_batch


def test_a_row_is_a_record() -> None:
    (columns,) = decode_columns(batches(build_batch(RECORDS)))
    arrow = to_record_batch(columns)
    arrow.validate(full=True)
    assert arrow.schema == SCHEMA
    assert arrow.to_pylist() == [
        {
            "offset": record.offset,
            "timestamp": record.timestamp_ms,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": key, "value": value} for key, value in record.headers],
        }
        for record in RECORDS
    ]


def test_columns_without_nulls_have_no_bitmap() -> None:
    (columns,) = decode_columns(batches(build_batch([Record(0, 0, b"k", b"v")])))
    arrow = to_record_batch(columns)
    arrow.validate(full=True)
    assert [column.null_count for column in arrow.columns] == [0] * 5
    assert arrow["value"].buffers()[0] is None


def test_no_rows_are_an_empty_batch() -> None:
    marker = EndTxnMarker(ControlType.COMMIT, 0)
    control = build_end_txn_batch(marker, timestamp_ms=0, producer_id=1, producer_epoch=0)
    (columns,) = decode_columns(batches(control))
    arrow = to_record_batch(columns)
    arrow.validate(full=True)
    assert arrow.num_rows == 0


def test_arrow_keeps_the_buffers_when_the_columns_are_gone() -> None:
    first, second = (
        to_record_batch(columns)
        for columns in decode_columns(batches(build_batch(RECORDS) * 2), columns_bytes=1)
    )
    assert first.equals(second)
    assert first["value"].buffers()[2].size == sum(len(r.value or b"") for r in RECORDS)
