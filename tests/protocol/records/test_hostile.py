"""Mutated batches through every reader: a result or `MalformedError`, and all readers agree."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import HEADER_BYTES, Batch, batches, seal
from snakka.protocol.records.columns import ColumnsBuilder, decode_columns, scan_keys
from snakka.protocol.records.legacy import read_records
from snakka.protocol.records.record import Record
from tests.protocol.records.samples import STEADY, batch_bytes, damaged

LIMIT_BYTES = 1 << 16


def iterated(batch: Batch) -> list[Record] | None:
    try:
        return list(batch.records(LIMIT_BYTES))
    except MalformedError:
        return None


def row_count(batch: Batch) -> int | None:
    try:
        decoded = decode_columns([batch], limit_bytes=LIMIT_BYTES, builder=ColumnsBuilder())
        return sum(columns.row_count for columns in decoded)
    except MalformedError:
        return None


def keys(batch: Batch) -> list[bytes | None] | None:
    try:
        return [span.key for span in scan_keys(batch.header, batch.section(LIMIT_BYTES))]
    except MalformedError:
        return None


def check_readers(data: bytes) -> None:
    with suppress(MalformedError):
        list(read_records(data, limit_bytes=LIMIT_BYTES))
    try:
        read = list(batches(data))
    except MalformedError:
        return
    for batch in read:
        records = iterated(batch)
        if not batch.header.is_control and batch.header.base_offset >= 0:
            assert row_count(batch) == (None if records is None else len(records))
        if records is not None:
            assert keys(batch) == [record.key for record in records]


@settings(STEADY, max_examples=400)
@given(batch_bytes(), st.data())
def test_damaged_batches(whole: bytes, data: st.DataObject) -> None:
    check_readers(data.draw(damaged(whole)))


@settings(STEADY, max_examples=400)
@given(batch_bytes(), st.data())
def test_damaged_records_under_a_right_checksum(whole: bytes, data: st.DataObject) -> None:
    """What an attacker sends: the CRC holds, the length too, and the rest does not."""
    (batch,) = batches(whole)
    section = data.draw(damaged(bytes(batch.data[HEADER_BYTES:])))
    changes = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "record_count": st.integers(0, (1 << 31) - 1),
                "last_offset_delta": st.integers(0, (1 << 31) - 1),
                "attributes": st.integers(-(1 << 15), (1 << 15) - 1),
                "base_timestamp": st.integers(-(1 << 63), (1 << 63) - 1),
                "max_timestamp": st.integers(-(1 << 63), (1 << 63) - 1),
            },
        )
    )
    check_readers(seal(batch.header._replace(**changes), section))


@settings(STEADY, max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    check_readers(data)
