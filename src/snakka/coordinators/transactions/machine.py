"""All transactional ids of one partition of `__transaction_state`.

A decision writes what the id becomes (transitions.py), and replaying that is the one way into hard
state. A prepared transaction leaves as an effect: once its record is committed, its markers are
sent, and `complete` writes that all of them are. So a crash at any moment repeats markers at worst.

Not here: sending markers (finishing.py), which requests are well-formed (transactions.py, apis).
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

from snakka.coordinators.deadlines import Deadlines
from snakka.coordinators.decision import Decision, NewRecord, WrittenRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions import transitions
from snakka.coordinators.transactions.adding import check_producer, verify
from snakka.coordinators.transactions.ending import must_prepare
from snakka.coordinators.transactions.initializing import (
    Producer,
    check_expected,
    initialize,
    take,
)
from snakka.coordinators.transactions.listing import Filter, describe, list_transactions
from snakka.coordinators.transactions.metadata import (
    EPOCH_MAX,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    TRANSACTION_V2,
    State,
    TransactionMetadata,
    metadata_of,
    record_of,
    tombstone,
)
from snakka.coordinators.transactions.settings import TransactionSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.transactions import TransactionLogKey, TransactionLogValue
from snakka.protocol.messages.describe_transactions import TransactionState as Described
from snakka.protocol.messages.end_txn import EndTxnRequest
from snakka.protocol.messages.list_transactions import TransactionState as Listed

_EXPIRABLE: Final = (State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT)

Results: TypeAlias = Mapping[TopicPartition, ErrorCode]


@dataclass(frozen=True, slots=True)
class ExpiryCheck:
    """A deadline of all ids together; the others are of one id, and its name."""


class TransactionMachine:
    """Commands decide; replay() alone changes hard state."""

    def __init__(self, settings: TransactionSettings, find_version: Callable[[], int]) -> None:
        self._settings = settings
        self._find_version = find_version  # the level of transaction.version in force
        self._transactions: dict[str, TransactionMetadata] = {}  # hard
        self._last_epochs: dict[str, int] = {}  # soft: tells a retried InitProducerId from a zombie
        self._deadlines: Deadlines[str | ExpiryCheck] = Deadlines()  # soft

    def find(self, transactional_id: str) -> TransactionMetadata | None:
        return self._transactions.get(transactional_id)

    def init_producer(
        self,
        transactional_id: str,
        expected: Producer | None,
        timeout_ms: int,
        new_producer_id: int | None,
        now_ms: int,
    ) -> Decision[TransactionMetadata | None]:
        """The id's producer from now on; None while the transaction of another is aborted."""
        current = self.find(transactional_id)
        if current is None:
            producer_id = take(new_producer_id)
            created = transitions.create(transactional_id, producer_id, timeout_ms, now_ms)
            return Decision(created, self._records(created))
        last_epoch = self._last_epoch(current)
        if expected is not None:
            check_expected(current, last_epoch, expected)
        if current.state.is_prepared:
            raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
        if current.state is State.ONGOING:
            return self._fence(current, now_ms)
        started = initialize(current, last_epoch, expected, timeout_ms, new_producer_id, now_ms)
        self._last_epochs[transactional_id] = started.last_epoch
        return Decision(started.metadata, self._records(started.metadata))

    def add_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: AbstractSet[TopicPartition],
        client_version: int,
        now_ms: int,
    ) -> Decision[ErrorCode]:
        current = check_producer(self.find(transactional_id), *producer)
        if current.state is State.ONGOING and partitions <= current.partitions:
            return Decision(ErrorCode.NONE)
        added = transitions.add(current, partitions, self._at_most(client_version), now_ms)
        return Decision(ErrorCode.NONE, self._records(added))

    def verify_partitions(
        self, transactional_id: str, producer: Producer, partitions: AbstractSet[TopicPartition]
    ) -> Decision[Results]:
        current = check_producer(self.find(transactional_id), *producer)
        return Decision(verify(current, partitions))

    def end(
        self,
        request: EndTxnRequest,
        client_version: int,
        new_producer_id: int | None,
        now_ms: int,
    ) -> Decision[Producer]:
        """Who the producer is in its next transaction."""
        current = self.find(request.transactional_id)
        if current is None:
            raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        version = self._at_most(client_version)
        if not must_prepare(current, request, version):
            return Decision(Producer(current.producer_id, current.producer_epoch))
        next_producer_id = NO_PRODUCER_ID
        if version >= TRANSACTION_V2 and current.is_epoch_exhausted:
            next_producer_id = take(new_producer_id)
        prepared = transitions.prepare(
            current,
            is_committed=request.committed,
            client_version=version,
            next_producer_id=next_producer_id,
            now_ms=now_ms,
        )
        if version >= TRANSACTION_V2:
            self._last_epochs.pop(request.transactional_id, None)
        following = transitions.complete(prepared, now_ms)
        return Decision(
            Producer(following.producer_id, following.producer_epoch),
            self._records(prepared),
            effects=(prepared,),
        )

    def complete(self, prepared: TransactionMetadata, now_ms: int) -> Decision[None]:
        """All partitions have the markers of the prepared transaction."""
        current = self.find(prepared.transactional_id)
        if current is None or _decided(current) != _decided(prepared):
            return Decision(None)  # it was written before, and only the answer was lost
        return Decision(None, self._records(transitions.complete(current, now_ms)))

    def describe(self, transactional_id: str) -> Decision[Described]:
        current = self.find(transactional_id)
        if current is None:
            raise CoordinatorError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return Decision(describe(current))

    def list_all(self, wanted: Filter, now_ms: int) -> Decision[list[Listed]]:
        return Decision(list_transactions(self._transactions.values(), wanted, now_ms))

    def replay(self, record: WrittenRecord) -> None:
        match record.key, record.value:
            case TransactionLogKey(transactional_id=name), TransactionLogValue() as value:
                current = self._transactions[name] = metadata_of(name, value)
                if current.state is State.ONGOING:
                    # Past the time-out, and not at it, as Kafka counts.
                    self._deadlines.set(name, current.started_at_ms + current.timeout_ms + 1)
                else:
                    self._deadlines.clear(name)
            case TransactionLogKey(transactional_id=name), None:
                self._transactions.pop(name, None)
                self._last_epochs.pop(name, None)
                self._deadlines.clear(name)

    def replay_end_transaction(self, producer_id: int, is_committed: bool) -> None:
        """Nobody writes to this log in a transaction."""

    def on_loaded(self, now_ms: int) -> Decision[None]:
        """What was decided before goes on: its markers may not have been written."""
        self._check_expiry_in(self._settings.expiration_check_interval_ms, now_ms)
        prepared = [each for each in self._transactions.values() if each.state.is_prepared]
        return Decision(None, effects=tuple(prepared))

    def next_deadline_ms(self) -> int | None:
        return self._deadlines.next_ms()

    def expire(self, now_ms: int) -> Decision[None]:
        """One transaction or some ids at a time; the rest is due at once."""
        due = self._deadlines.pop_due(now_ms)
        if due is None:
            return Decision(None)
        if isinstance(due, ExpiryCheck):
            return self._expire_ids(now_ms)
        # Cleared by the record of its abort; where the log refuses that, it is tried again.
        self._deadlines.set(due, now_ms + self._settings.abort_retry_interval_ms)
        fenced = self._fence(self._transactions[due], now_ms)
        return Decision(None, fenced.records, effects=fenced.effects)

    def _fence(
        self, ongoing: TransactionMetadata, now_ms: int
    ) -> Decision[TransactionMetadata | None]:
        version = self._find_version()
        fenced = transitions.fence(ongoing, version, now_ms)
        self._last_epochs.pop(ongoing.transactional_id, None)
        return Decision(None, self._records(fenced), effects=(fenced,))

    def _last_epoch(self, current: TransactionMetadata) -> int:
        """The epoch that the producer had before, where a retry may still come with it."""
        known = self._last_epochs.get(current.transactional_id)
        if known is not None:
            return known
        if current.client_version < TRANSACTION_V2 or current.state in (State.EMPTY, State.ONGOING):
            return NO_PRODUCER_EPOCH
        if current.producer_id != current.previous_producer_id:
            return EPOCH_MAX - 1  # the last one that a producer is given
        return current.producer_epoch - 1

    def _expire_ids(self, now_ms: int) -> Decision[None]:
        settings = self._settings
        records: list[NewRecord] = []
        for each in self._transactions.values():
            age_ms = now_ms - each.updated_at_ms
            if each.state in _EXPIRABLE and age_ms >= settings.id_expiration_ms:
                records.append(tombstone(each.transactional_id))
                if len(records) >= settings.expired_ids_max:
                    break
        has_all = len(records) < settings.expired_ids_max
        self._check_expiry_in(settings.expiration_check_interval_ms if has_all else 1, now_ms)
        return Decision(None, tuple(records))

    def _check_expiry_in(self, delay_ms: int, now_ms: int) -> None:
        self._deadlines.set(ExpiryCheck(), now_ms + delay_ms)

    def _records(self, metadata: TransactionMetadata) -> tuple[NewRecord, ...]:
        return (record_of(metadata, self._find_version()),)

    def _at_most(self, client_version: int) -> int:
        return min(client_version, self._find_version())


def _decided(metadata: TransactionMetadata) -> tuple[object, ...]:
    """What tells one prepared transaction from all others, those of the same epoch included."""
    times_ms = metadata.started_at_ms, metadata.updated_at_ms
    return metadata.producer_id, metadata.producer_epoch, metadata.state, times_ms
