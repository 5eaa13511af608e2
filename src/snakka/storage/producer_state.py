"""What a log knows of its producers: sequences, epochs and transactions (KIP-98, KIP-890). Pure.

Leader, follower and recovery build the same state, since `replay` alone changes it, batch by
batch in log order. A leader asks `find_duplicate`, `check` or `check_marker` first; a follower
trusts its leader.

A transaction is ongoing from its first batch to its marker, and unreplicated until the high
watermark has passed the marker. The last stable offset stops before the first of either kind.

Not here: the snapshot files (producer_snapshot.py), KIP-890's verification of a transaction's
first batch, which asks the coordinator and so belongs to the partition's leader.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.protocol.records.batch import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    BatchHeader,
)
from snakka.protocol.records.control import ControlType, EndTxnMarker
from snakka.storage.errors import (
    InvalidProducerEpochError,
    InvalidTxnStateError,
    OutOfOrderSequenceError,
    TransactionCoordinatorFencedError,
)

BATCHES_PER_PRODUCER: Final = 5  # as many as a producer may have in flight
NO_COORDINATOR_EPOCH: Final = -1
TRANSACTION_V2: Final = 2

_SEQUENCE_MAX: Final = (1 << 31) - 1
_EPOCH_MAX: Final = (1 << 15) - 1


class BatchMetadata(NamedTuple):
    """A batch of a producer, as far as a retry of it is recognised."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta

    @property
    def first_sequence(self) -> int:
        return self.last_sequence - self.offset_delta & _SEQUENCE_MAX


@dataclass(slots=True)
class ProducerEntry:
    """One producer, as its last batches and markers left it."""

    producer_id: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    last_timestamp: int = NO_TIMESTAMP
    current_txn_first_offset: int | None = None
    batches: tuple[BatchMetadata, ...] = ()

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def enter_epoch(self, producer_epoch: int) -> None:
        if producer_epoch != self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.batches = ()


class CompletedTransaction(NamedTuple):
    """A transaction that a marker has ended, and the last stable offset that follows from it."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool
    last_stable_offset: int


class ProducerState:
    """The producers of one log up to `end_offset`."""

    __slots__ = ("_entries", "_ongoing", "_unreplicated", "end_offset")

    def __init__(self, entries: Iterable[ProducerEntry] = (), end_offset: int = 0) -> None:
        self.end_offset = end_offset
        self._entries = {entry.producer_id: entry for entry in entries}
        starts = [
            (entry.current_txn_first_offset, entry.producer_id)
            for entry in self._entries.values()
            if entry.current_txn_first_offset is not None
        ]
        self._ongoing = dict(sorted(starts))  # first offset to producer id, in rising order
        self._unreplicated: dict[int, int] = {}  # first offset to the marker's offset

    @property
    def entries(self) -> list[ProducerEntry]:
        return list(self._entries.values())

    def find(self, producer_id: int) -> ProducerEntry | None:
        return self._entries.get(producer_id)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the first transaction begins that is undecided, or decided but not replicated."""
        ongoing = next(iter(self._ongoing), None)
        if not self._unreplicated:
            return ongoing
        unreplicated = min(self._unreplicated)
        return unreplicated if ongoing is None else min(ongoing, unreplicated)

    def find_duplicate(self, header: BatchHeader) -> BatchMetadata | None:
        """The batch of which this one is a retry, among the last five of its producer."""
        entry = self._entries.get(header.producer_id)
        if entry is None or entry.producer_epoch != header.producer_epoch:
            return None
        last_sequence = _last_sequence(header)
        for batch in entry.batches:
            if batch.last_sequence == last_sequence and batch.offset_delta == (
                header.last_offset_delta
            ):
                return batch
        return None

    def check(self, header: BatchHeader, *, has_sequence: bool = True) -> None:
        """Raises if a leader must refuse this batch of records.

        `has_sequence` is false for batches of coordinators, which write with the ids of others.
        """
        entry = self._entries.get(header.producer_id)
        if entry is None:
            return
        if header.producer_epoch < entry.producer_epoch:
            raise InvalidProducerEpochError(
                f"producer {header.producer_id} has epoch {header.producer_epoch}, "
                f"but {entry.producer_epoch} was seen"
            )
        if has_sequence:
            _check_sequence(entry, header)
        if entry.current_txn_first_offset is not None and not header.is_transactional:
            raise InvalidTxnStateError(
                f"producer {header.producer_id} is in a transaction that began at offset "
                f"{entry.current_txn_first_offset}"
            )

    def check_marker(
        self, header: BatchHeader, marker: EndTxnMarker, transaction_version: int
    ) -> None:
        """Raises if a leader must refuse this end of a transaction."""
        entry = self._entries.get(header.producer_id)
        if entry is None:
            return
        epoch, current = header.producer_epoch, entry.producer_epoch
        is_stale = epoch < current
        if transaction_version >= TRANSACTION_V2 and epoch == current:
            # Every transaction of version 2 ends in a new epoch, so that a late marker cannot end
            # the next one. The same epoch again is a retry, unless there is something to end.
            is_stale = entry.current_txn_first_offset is not None and epoch != _EPOCH_MAX
        if is_stale:
            raise InvalidProducerEpochError(
                f"a marker of epoch {epoch} for producer {header.producer_id} of epoch {current}"
            )
        if marker.coordinator_epoch < entry.coordinator_epoch:
            raise TransactionCoordinatorFencedError(
                f"coordinator epoch {marker.coordinator_epoch} is before {entry.coordinator_epoch}"
            )

    def replay(
        self, header: BatchHeader, marker: EndTxnMarker | None = None
    ) -> CompletedTransaction | None:
        """Takes in the next batch of the log. A control batch without marker is an emptied one."""
        self.end_offset = header.next_offset
        producer_id = header.producer_id
        if producer_id == NO_PRODUCER_ID or (header.is_control and marker is None):
            return None
        entry = self._entries.get(producer_id)
        if entry is None:
            entry = self._entries[producer_id] = ProducerEntry(producer_id)
        entry.enter_epoch(header.producer_epoch)
        entry.last_timestamp = header.max_timestamp
        if marker is not None:
            return self._end_transaction(entry, header, marker)
        delta = header.last_offset_delta
        batch = BatchMetadata(
            _last_sequence(header), header.base_offset + delta, delta, header.max_timestamp
        )
        entry.batches = (*entry.batches[1 - BATCHES_PER_PRODUCER :], batch)
        if header.is_transactional and entry.current_txn_first_offset is None:
            entry.current_txn_first_offset = header.base_offset
            self._ongoing[header.base_offset] = producer_id
        return None

    def on_high_watermark(self, high_watermark: int) -> None:
        """Transactions are stable once their marker is replicated."""
        if self._unreplicated:
            self._unreplicated = {
                first: last for first, last in self._unreplicated.items() if last >= high_watermark
            }

    def expire(self, now_ms: int, producer_id_expiration_ms: int) -> None:
        """Forgets the producers that have been silent for so long, transactions excepted."""
        self._entries = {
            producer_id: entry
            for producer_id, entry in self._entries.items()
            if entry.current_txn_first_offset is not None
            or now_ms - entry.last_timestamp < producer_id_expiration_ms
        }

    def _end_transaction(
        self, entry: ProducerEntry, header: BatchHeader, marker: EndTxnMarker
    ) -> CompletedTransaction | None:
        entry.coordinator_epoch = marker.coordinator_epoch
        first_offset = entry.current_txn_first_offset
        if first_offset is None:
            return None
        entry.current_txn_first_offset = None
        self._ongoing.pop(first_offset, None)
        self._unreplicated[first_offset] = header.base_offset
        return CompletedTransaction(
            producer_id=entry.producer_id,
            first_offset=first_offset,
            last_offset=header.base_offset,
            is_aborted=marker.type is ControlType.ABORT,
            last_stable_offset=next(iter(self._ongoing), header.base_offset + 1),
        )


def _last_sequence(header: BatchHeader) -> int:
    if header.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return header.base_sequence + header.last_offset_delta & _SEQUENCE_MAX


def _check_sequence(entry: ProducerEntry, header: BatchHeader) -> None:
    sequence = header.base_sequence
    if header.producer_epoch != entry.producer_epoch:
        if sequence != 0 and entry.producer_epoch != NO_PRODUCER_EPOCH:
            raise OutOfOrderSequenceError(
                f"producer {header.producer_id} begins epoch {header.producer_epoch} "
                f"with sequence {sequence}"
            )
    elif sequence != (entry.last_sequence + 1 & _SEQUENCE_MAX):
        raise OutOfOrderSequenceError(
            f"producer {header.producer_id} sends sequence {sequence} after {entry.last_sequence}"
        )
