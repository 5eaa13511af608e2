"""Which batches of a log belong to aborted transactions, and which markers have become idle. Pure.

Batches are shown in log order. A marker is idle when no batch of its transaction is left: it may
go, but only after the delete horizon, so that a reader which has seen the transaction's batches
before they went sees its end as well (KIP-534).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from snakka.protocol.records.batch import Batch, BatchHeader
from snakka.protocol.records.control import ControlType, read_control_key
from snakka.storage.transaction_index import AbortedTransaction


@dataclass(slots=True)
class _Aborted:
    transaction: AbortedTransaction
    has_batches: bool = False


class CleanedTransactions:
    """Follows the transactions of a log from one batch to the next."""

    __slots__ = ("_aborted", "_committed", "_upcoming", "ended")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._upcoming = sorted(aborted, key=lambda entry: entry.first_offset, reverse=True)
        self._aborted: dict[int, _Aborted] = {}  # by producer
        self._committed: set[int] = set()  # the producers of which batches were seen
        self.ended: list[AbortedTransaction] = []  # still with batches: the caller lists them

    def is_aborted(self, header: BatchHeader) -> bool:
        """Whether a batch of records was aborted."""
        self._begin_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        aborted = self._aborted.get(header.producer_id)
        if aborted is None:
            self._committed.add(header.producer_id)
            return False
        aborted.has_batches = True
        return True

    def is_idle(self, batch: Batch) -> bool:
        """Whether a control batch ends nothing that is still there."""
        header = batch.header
        self._begin_up_to(header.last_offset)
        if not header.record_count:
            return True
        match read_control_key(next(iter(batch.records())).key):
            case ControlType.ABORT:
                aborted = self._aborted.pop(header.producer_id, None)
                if aborted is None or not aborted.has_batches:
                    return True
                self.ended.append(aborted.transaction)
                return False
            case ControlType.COMMIT:
                had_batches = header.producer_id in self._committed
                self._committed.discard(header.producer_id)
                return not had_batches
            case _:
                return False

    def _begin_up_to(self, offset: int) -> None:
        upcoming = self._upcoming
        while upcoming and upcoming[-1].first_offset <= offset:
            transaction = upcoming.pop()
            self._aborted.setdefault(transaction.producer_id, _Aborted(transaction))
