"""Which batches of an answer to Fetch a reader may see, and which records are nobody's rows. Pure.

A read_committed reader passes over the batches of aborted transactions: the answer names each with
its producer and first offset, and an ABORT marker ends it (KIP-98). Control batches are never seen.
"""

from collections.abc import Iterable

from snakka.protocol.messages.fetch import AbortedTransaction
from snakka.protocol.records.batch import Batch
from snakka.protocol.records.control import ControlType, read_control_key


class Visibility:
    """Follows the transactions of one answer, from batch to batch."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._upcoming = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
        self._aborted: set[int] = set()  # producers

    def is_visible(self, batch: Batch) -> bool:
        header = batch.header
        while self._upcoming and self._upcoming[-1].first_offset <= header.last_offset:
            self._aborted.add(self._upcoming.pop().producer_id)
        if header.is_control:
            if header.record_count and self._is_abort(batch):
                self._aborted.discard(header.producer_id)
            return False
        return not (header.is_transactional and header.producer_id in self._aborted)

    def _is_abort(self, batch: Batch) -> bool:
        return read_control_key(next(batch.records()).key) is ControlType.ABORT
