"""Control records: keys of known and unknown types, and the transaction marker."""

import pytest

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.builder import build_end_txn_batch
from snakka.protocol.records.control import (
    ControlType,
    EndTxnMarker,
    read_control_key,
    write_control_key,
)
from snakka.protocol.records.record import Record
from tests.protocol.records.samples import only_batch


@pytest.mark.parametrize("control_type", [t for t in ControlType if t is not ControlType.UNKNOWN])
def test_a_key_is_read_as_written(control_type: ControlType) -> None:
    assert read_control_key(write_control_key(control_type)) is control_type


def test_a_type_of_the_future_is_unknown_not_an_error() -> None:
    assert read_control_key(bytes.fromhex("0000 0063")) is ControlType.UNKNOWN


def test_a_later_key_version_may_append_fields() -> None:
    assert read_control_key(bytes.fromhex("0001 0001 abcd")) is ControlType.COMMIT


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", bytes.fromhex("ffff 0000")])
def test_a_key_that_is_none_is_refused(key: bytes | None) -> None:
    with pytest.raises(MalformedError):
        read_control_key(key)


@pytest.mark.parametrize("outcome", [ControlType.ABORT, ControlType.COMMIT])
def test_a_marker_is_read_as_written(outcome: ControlType) -> None:
    marker = EndTxnMarker(outcome, coordinator_epoch=5)
    batch = only_batch(
        build_end_txn_batch(marker, timestamp_ms=9, producer_id=1, producer_epoch=2, base_offset=7)
    )
    (record,) = batch.records()
    assert batch.header.is_control
    assert batch.header.is_transactional
    assert (record.offset, record.timestamp_ms) == (7, 9)
    assert EndTxnMarker.read(record) == marker


@pytest.mark.parametrize("value", [None, b"", b"\0\0\0\0\0", bytes.fromhex("ffff 00000001")])
def test_a_marker_value_that_is_none_is_refused(value: bytes | None) -> None:
    with pytest.raises(MalformedError):
        EndTxnMarker.read(Record(0, 0, write_control_key(ControlType.COMMIT), value))


def test_other_control_records_end_no_transaction() -> None:
    with pytest.raises(MalformedError, match="LEADER_CHANGE"):
        EndTxnMarker.read(Record(0, 0, write_control_key(ControlType.LEADER_CHANGE), bytes(6)))
