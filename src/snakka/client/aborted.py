"""What a read_committed reader passes over: the batches of transactions that were aborted. Pure.

A fetch tells which aborted transactions reach into what it returned, and from which offset on; the
marker in the log says where each one ends.
"""

from collections.abc import Iterable
from typing import NamedTuple

from snakka.protocol.records.batch import Batch
from snakka.protocol.records.control import ControlType, read_control_key


class AbortedTransaction(NamedTuple):
    first_offset: int
    producer_id: int


class AbortedFilter:
    """Asked of every batch of one fetch, markers included, in the order of the log."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._to_come = sorted(aborted, reverse=True)
        self._aborting: set[int] = set()

    def is_wanted(self, batch: Batch) -> bool:
        """Whether a reader is to see the batch."""
        header = batch.header
        while self._to_come and self._to_come[-1].first_offset <= header.last_offset:
            self._aborting.add(self._to_come.pop().producer_id)
        if header.is_control:
            if header.producer_id in self._aborting and _is_abort(batch):
                self._aborting.discard(header.producer_id)
            return False
        return not (header.is_transactional and header.producer_id in self._aborting)


def _is_abort(batch: Batch) -> bool:
    first = next(batch.records(), None)  # compaction may have emptied it
    return first is not None and read_control_key(first.key) is ControlType.ABORT
