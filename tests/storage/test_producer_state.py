"""Sequences, epochs and transactions, on made-up headers."""

import pytest

from snakka.protocol.records.batch import BatchHeader
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.storage.errors import (
    InvalidProducerEpochError,
    InvalidTxnStateError,
    OutOfOrderSequenceError,
    TransactionCoordinatorFencedError,
)
from snakka.storage.producer_state import BatchMetadata, CompletedTransaction, ProducerState

COMMIT = EndTxnMarker(ControlType.COMMIT, coordinator_epoch=1)
ABORT = EndTxnMarker(ControlType.ABORT, coordinator_epoch=1)


def header(
    offset: int,
    sequence: int = -1,
    *,
    count: int = 1,
    producer_id: int = 1,
    epoch: int = 0,
    transactional: bool = False,
    control: bool = False,
) -> BatchHeader:
    return BatchHeader(
        base_offset=offset,
        batch_length=100,
        leader_epoch=0,
        magic=2,
        crc=0,
        attributes=(0x10 if transactional or control else 0) | (0x20 if control else 0),
        last_offset_delta=count - 1,
        base_timestamp=offset,
        max_timestamp=offset,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        record_count=count,
    )


def marker(offset: int, *, producer_id: int = 1, epoch: int = 0) -> BatchHeader:
    return header(offset, producer_id=producer_id, epoch=epoch, control=True)


def test_batches_without_a_producer_only_move_the_end() -> None:
    state = ProducerState()
    assert state.replay(header(10, producer_id=-1, count=5)) is None
    assert state.end_offset == 15
    assert state.entries == []


def test_the_last_five_batches_are_recognised() -> None:  # pitfall 10
    state = ProducerState()
    for n in range(7):
        state.check(header(n * 10, n * 2, count=2))
        state.replay(header(n * 10, n * 2, count=2))
    found = [state.find_duplicate(header(99, n * 2, count=2)) for n in range(8)]
    assert found[:2] == [None, None]
    assert found[2] == BatchMetadata(last_sequence=5, last_offset=21, offset_delta=1, timestamp=20)
    assert [f.first_offset for f in found[2:7] if f] == [20, 30, 40, 50, 60]
    assert found[7] is None
    assert state.find_duplicate(header(99, 4, count=1)) is None
    assert state.find_duplicate(header(99, 4, count=2, epoch=1)) is None


@pytest.mark.parametrize("sequence", [0, 1, 3, 99])
def test_a_gap_is_refused(sequence: int) -> None:
    state = ProducerState()
    state.replay(header(0, 0, count=2))
    with pytest.raises(OutOfOrderSequenceError):
        state.check(header(2, sequence))
    state.check(header(2, 2))
    state.check(header(2, sequence), has_sequence=False)


def test_a_new_epoch_begins_at_sequence_zero() -> None:  # pitfall 10
    state = ProducerState()
    state.replay(header(0, 0, count=2))
    with pytest.raises(OutOfOrderSequenceError):
        state.check(header(2, 2, epoch=1))
    state.check(header(2, 0, epoch=1))
    state.replay(header(2, 0, epoch=1))
    with pytest.raises(InvalidProducerEpochError):
        state.check(header(3, 2, epoch=0))
    state.check(header(3, 1, epoch=1))


def test_an_unknown_producer_may_begin_anywhere() -> None:
    ProducerState().check(header(0, 17, epoch=3))


def test_sequences_wrap() -> None:
    state = ProducerState()
    state.replay(header(0, (1 << 31) - 2, count=2))
    state.check(header(2, 0))
    state.replay(header(2, 0))
    state = ProducerState()
    wrapping = header(0, (1 << 31) - 1, count=3)
    state.replay(wrapping)
    duplicate = state.find_duplicate(wrapping)
    assert duplicate is not None
    assert duplicate.last_sequence == 1
    assert duplicate.first_sequence == (1 << 31) - 1
    state.check(header(3, 2))


def test_a_transaction_from_begin_to_stable() -> None:  # pitfall 12
    state = ProducerState()
    state.replay(header(0, 0, transactional=True))
    state.replay(header(1, 1, transactional=True))
    assert state.first_unstable_offset == 0
    completed = state.replay(marker(2), COMMIT)
    assert completed == CompletedTransaction(1, 0, 2, is_aborted=False, last_stable_offset=3)
    assert state.first_unstable_offset == 0, "the marker is not replicated"
    state.on_high_watermark(2)
    assert state.first_unstable_offset == 0
    state.on_high_watermark(3)
    assert state.first_unstable_offset is None


def test_overlapping_transactions_release_one_by_one() -> None:  # pitfall 12
    state = ProducerState()
    state.replay(header(0, 0, producer_id=1, transactional=True))
    state.replay(header(1, 0, producer_id=2, transactional=True))
    state.replay(header(2, 0, producer_id=3, transactional=True))
    first = state.replay(marker(3, producer_id=2), ABORT)
    assert first == CompletedTransaction(2, 1, 3, is_aborted=True, last_stable_offset=0)
    second = state.replay(marker(4, producer_id=1), COMMIT)
    assert second is not None
    assert second.last_stable_offset == 2
    state.on_high_watermark(5)
    assert state.first_unstable_offset == 2


def test_a_marker_without_transaction_completes_nothing() -> None:
    state = ProducerState()
    assert state.replay(marker(0), ABORT) is None
    assert state.replay(header(1, control=True), None) is None, "emptied by compaction"
    assert state.end_offset == 2


def test_records_outside_of_the_transaction_are_refused_while_it_is_open() -> None:
    state = ProducerState()
    state.replay(header(0, 0, transactional=True))
    with pytest.raises(InvalidTxnStateError):
        state.check(header(1, 1))
    state.replay(marker(1), COMMIT)
    state.check(header(2, 1))


def test_fenced_markers() -> None:
    state = ProducerState()
    state.replay(header(0, 0, epoch=5, transactional=True))
    with pytest.raises(InvalidProducerEpochError):
        state.check_marker(marker(1, epoch=4), COMMIT, transaction_version=1)
    state.check_marker(marker(1, epoch=5), COMMIT, transaction_version=1)
    state.replay(marker(1, epoch=5), EndTxnMarker(ControlType.COMMIT, 9))
    with pytest.raises(TransactionCoordinatorFencedError):
        state.check_marker(marker(2, epoch=5), COMMIT, transaction_version=1)


def test_a_late_marker_does_not_end_the_next_transaction() -> None:  # pitfall 14
    state = ProducerState()
    state.replay(header(0, 0, epoch=5, transactional=True))
    with pytest.raises(InvalidProducerEpochError):
        state.check_marker(marker(1, epoch=5), COMMIT, transaction_version=2)
    state.check_marker(marker(1, epoch=6), COMMIT, transaction_version=2)
    state.replay(marker(1, epoch=6), COMMIT)
    state.check_marker(marker(2, epoch=6), COMMIT, transaction_version=2)  # a retry
    state.check(header(2, 0, epoch=6, transactional=True))
    state.replay(header(2, 0, epoch=6, transactional=True))
    with pytest.raises(InvalidProducerEpochError):
        state.check_marker(marker(3, epoch=6), COMMIT, transaction_version=2)


def test_producers_expire_unless_in_a_transaction() -> None:
    state = ProducerState()
    state.replay(header(10, 0, producer_id=1))
    state.replay(header(11, 0, producer_id=2, transactional=True))
    state.replay(header(500, 0, producer_id=3))
    state.expire(now_ms=1009, producer_id_expiration_ms=1000)
    assert len(state.entries) == 3
    state.expire(now_ms=1400, producer_id_expiration_ms=1000)
    assert [entry.producer_id for entry in state.entries] == [2, 3]


def test_loading_entries_restores_open_transactions() -> None:
    state = ProducerState()
    state.replay(header(3, 0, producer_id=2, transactional=True))
    state.replay(header(5, 0, producer_id=1, transactional=True))
    loaded = ProducerState(reversed(state.entries), end_offset=6)
    assert loaded.first_unstable_offset == 3
    completed = loaded.replay(marker(6, producer_id=2), ABORT)
    assert completed is not None
    assert completed.last_stable_offset == 5
