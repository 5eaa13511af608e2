"""A decision's records to one batch of the log, and batches back to what machines replay."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from snakka.coordinators.decision import NewRecord, Transaction, WrittenRecord
from snakka.protocol.internal.frames import (
    CoordinatorType,
    read_coordinator_record,
    write_key,
    write_versioned,
)
from snakka.protocol.records.batch import Batch
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker, read_control_key
from snakka.protocol.records.record import Record

RecordTypes: TypeAlias = Mapping[int, CoordinatorType]

_TYPE_BYTES: Final = 2


class EndTransaction(NamedTuple):
    """A marker: what the producer wrote before holds, or never was."""

    producer_id: int
    is_committed: bool


def build(
    records: tuple[NewRecord, ...], transaction: Transaction | None, now_ms: int
) -> bytearray:
    """All records of a decision in one batch, so that they are there together or not at all."""
    written = [
        Record(index, now_ms, write_key(each.key), _write_value(each))
        for index, each in enumerate(records)
    ]
    if transaction is None:
        return bytearray(build_batch(written))
    return bytearray(
        build_batch(
            written,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            is_transactional=True,
        )
    )


def _write_value(record: NewRecord) -> bytes | None:
    return None if record.value is None else write_versioned(record.value, record.version)


def read(batch: Batch, types: RecordTypes) -> Iterator[WrittenRecord | EndTransaction]:
    """What a batch says. Records of types that only a newer broker knows are passed over."""
    header = batch.header
    if header.is_control:
        yield from _read_control(batch)
        return
    # Producers of plain batches are no concern of a machine: only a transaction is pending.
    producer_id = header.producer_id if header.is_transactional else -1
    for record in batch.records():
        if record.key is None or int.from_bytes(record.key[:_TYPE_BYTES]) not in types:
            continue
        key, value = read_coordinator_record(types, record.key, record.value)
        yield WrittenRecord(key, value, record.offset, producer_id)


def _read_control(batch: Batch) -> Iterator[EndTransaction]:
    for record in batch.records():
        if read_control_key(record.key) in (ControlType.ABORT, ControlType.COMMIT):
            marker = EndTxnMarker.read(record)
            yield EndTransaction(batch.header.producer_id, marker.type is ControlType.COMMIT)
