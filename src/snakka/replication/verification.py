"""Whether a partition is in a producer's transaction, as its coordinator says (KIP-890). Pure.

A verification begins before the coordinator is asked, and is over with the first batch of the
transaction or with a marker. So an answer that comes after the transaction has ended meets another
verification, or none, and lets nothing in: no transaction is left open that nobody will end.

Not here: asking (apis/transaction_verification.py).
"""

from typing import Final

from snakka.protocol.records.batch import BatchHeader
from snakka.replication.errors import UnverifiedTransactionError
from snakka.storage.errors import OutOfOrderSequenceError

PRODUCERS_MAX: Final = 10_000  # those asked for longest ago are forgotten, and have to ask again


class Verification:
    """One producer's, for one transaction."""

    __slots__ = ("is_confirmed", "lowest_sequence", "producer_epoch")

    def __init__(self, producer_epoch: int, sequence: int) -> None:
        self.producer_epoch = producer_epoch
        self.lowest_sequence = sequence
        self.is_confirmed = False

    def check(self, header: BatchHeader) -> None:
        """Raises unless the coordinator has said that the batch's transaction has the partition."""
        if not self.is_confirmed or header.producer_epoch != self.producer_epoch:
            raise UnverifiedTransactionError(
                f"nobody vouches for the transaction of producer {header.producer_id}"
            )
        # A log that knows nothing of a producer takes any first sequence. Of several batches in
        # flight it has to be the first, even where only a later one was verified in time.
        if header.base_sequence > self.lowest_sequence:
            raise OutOfOrderSequenceError(
                f"producer {header.producer_id} sends sequence {header.base_sequence} before "
                f"{self.lowest_sequence}"
            )


class Verifications:
    """Those under way in one partition, by producer id."""

    __slots__ = ("_of_producers",)

    def __init__(self) -> None:
        self._of_producers: dict[int, Verification] = {}

    def begin(self, producer_id: int, producer_epoch: int, sequence: int) -> Verification:
        """The producer's verification, which several of its batches may wait for."""
        known = self._of_producers.get(producer_id)
        if known is not None and known.producer_epoch == producer_epoch:
            known.lowest_sequence = min(known.lowest_sequence, sequence)
            return known
        begun = Verification(producer_epoch, sequence)
        if known is not None and known.producer_epoch > producer_epoch:
            return begun  # of a producer that is fenced: it is asked for, and never let in
        while len(self._of_producers) >= PRODUCERS_MAX:
            del self._of_producers[next(iter(self._of_producers))]
        self._of_producers[producer_id] = begun
        return begun

    def end(self, producer_id: int) -> None:
        """Its transaction has begun here, or has ended."""
        self._of_producers.pop(producer_id, None)

    def clear(self) -> None:
        self._of_producers.clear()
