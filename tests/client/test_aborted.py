"""Which batches a read_committed reader sees."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from snakka.client.aborted import AbortedFilter, AbortedTransaction
from snakka.protocol.records.batch import Batch, assign_offset, batches
from snakka.protocol.records.builder import build_batch, build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.protocol.records.record import Record


def at(offset: int, data: bytes) -> Batch:
    placed = bytearray(data)
    assign_offset(placed, offset, 0)
    return next(batches(placed))


def batch(offset: int, producer_id: int, *, is_transactional: bool = True) -> Batch:
    records = [Record(0, 0, None, b"v")]
    data = build_batch(
        records, producer_id=producer_id, base_sequence=0, is_transactional=is_transactional
    )
    return at(offset, data)


def marker(offset: int, producer_id: int, kind: ControlType) -> Batch:
    data = build_end_txn_batch(
        EndTxnMarker(kind, 0), timestamp_ms=0, producer_id=producer_id, producer_epoch=0
    )
    return at(offset, data)


def test_an_aborted_transaction_is_passed_over_up_to_its_marker() -> None:
    log = [
        batch(0, 1),
        batch(1, 2),
        batch(2, 1, is_transactional=False),
        batch(3, 3, is_transactional=False),
        marker(4, 1, ControlType.ABORT),
        batch(5, 1),
        marker(6, 2, ControlType.COMMIT),
        marker(7, 1, ControlType.COMMIT),
    ]
    wanted = AbortedFilter([AbortedTransaction(0, 1)])
    assert [each.header.base_offset for each in log if wanted.is_wanted(each)] == [1, 2, 3, 5]


def test_one_that_begins_later_does_not_hide_what_was_before() -> None:
    log = [batch(0, 1), marker(1, 1, ControlType.COMMIT), batch(2, 1)]
    wanted = AbortedFilter([AbortedTransaction(2, 1)])
    assert [each.header.base_offset for each in log if wanted.is_wanted(each)] == [0]


class Producers:
    """Writes a log of overlapping transactions, and knows what was committed."""

    def __init__(self) -> None:
        self.log: list[Batch] = []
        self.open: dict[int, list[int]] = {}
        self.committed: set[int] = set()
        self.aborted: list[AbortedTransaction] = []

    def step(self, producer_id: int, action: int) -> None:
        offset = len(self.log)
        held = self.open.get(producer_id)
        if action == 0 or held is None:
            self.log.append(batch(offset, producer_id))
            self.open.setdefault(producer_id, []).append(offset)
            return
        del self.open[producer_id]
        is_commit = action == 1
        kind = ControlType.COMMIT if is_commit else ControlType.ABORT
        self.log.append(marker(offset, producer_id, kind))
        if is_commit:
            self.committed.update(held)
        else:
            self.aborted.append(AbortedTransaction(held[0], producer_id))

    def finish(self) -> Iterator[int]:
        for producer_id in list(self.open):
            self.step(producer_id, 2)
        wanted = AbortedFilter(self.aborted)
        return (each.header.base_offset for each in self.log if wanted.is_wanted(each))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2)), max_size=40))
def test_exactly_what_was_committed_is_seen(steps: list[tuple[int, int]]) -> None:
    producers = Producers()
    for producer_id, action in steps:
        producers.step(producer_id, action)
    assert set(producers.finish()) == producers.committed
