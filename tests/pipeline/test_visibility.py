"""What a read_committed reader sees of transactions, committed, aborted and side by side."""

from snakka.pipeline.visibility import Visibility
from snakka.protocol.messages.fetch import AbortedTransaction
from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record


def data(offset: int, producer_id: int = -1) -> bytes:
    return build_batch(
        [Record(offset, 0, b"k", b"v")],
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
        is_transactional=producer_id >= 0,
    )


def marker(offset: int, producer_id: int, outcome: ControlType) -> bytes:
    return build_end_txn_batch(
        EndTxnMarker(outcome, 0),
        timestamp_ms=0,
        producer_id=producer_id,
        producer_epoch=0,
        base_offset=offset,
    )


def seen(log: bytes, *aborted: tuple[int, int]) -> list[int]:
    visibility = Visibility(
        AbortedTransaction(producer_id=producer, first_offset=first) for producer, first in aborted
    )
    return [each.header.base_offset for each in batches(log) if visibility.is_visible(each)]


def test_an_aborted_transaction_ends_with_its_marker() -> None:
    log = b"".join(
        [
            *(data(0), data(1, 7), data(2, 8), data(3, 7)),
            *(marker(4, 7, ControlType.ABORT), data(5, 7)),
            *(marker(6, 8, ControlType.COMMIT), marker(7, 7, ControlType.COMMIT)),
        ]
    )
    assert seen(log, (7, 1)) == [0, 2, 5]


def test_a_transaction_that_began_before_the_answer_is_aborted_in_it_too() -> None:
    log = data(10, 7) + marker(11, 7, ControlType.ABORT) + data(12, 7)
    assert seen(log, (7, 3)) == [12]


def test_the_same_producer_may_abort_twice() -> None:
    log = b"".join(
        [
            *(data(0, 7), marker(1, 7, ControlType.ABORT), data(2, 7)),
            *(marker(3, 7, ControlType.COMMIT), data(4, 7), marker(5, 7, ControlType.ABORT)),
        ]
    )
    assert seen(log, (7, 0), (7, 4)) == [2]


def test_a_reader_of_everything_sees_no_markers_either() -> None:
    assert seen(data(0, 7) + marker(1, 7, ControlType.ABORT)) == [0]
