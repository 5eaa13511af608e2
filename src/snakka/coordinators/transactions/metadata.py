"""A transactional id as `__transaction_state` keeps it, and the record that says so.

Not here: which state follows which (transitions.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from snakka.coordinators.decision import NewRecord
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.protocol.internal.transactions import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_TIMESTAMP: Final = -1
EPOCH_MAX: Final = (1 << 15) - 1

TRANSACTION_V1: Final = 1  # records have fields that older ones lack
TRANSACTION_V2: Final = 2  # every transaction has an epoch of its own (KIP-890)
_VALUE_LATEST: Final = 1


class State(IntEnum):
    """Where a transaction is; the numbers are those of the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def title(self) -> str:
        """The name that tools show."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def is_prepared(self) -> bool:
        """Decided, and not yet told to all partitions."""
        return self in (State.PREPARE_COMMIT, State.PREPARE_ABORT)


@dataclass(frozen=True, slots=True)
class TransactionMetadata:
    """A transactional id: its producer, and its current or last transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: State = State.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    started_at_ms: int = NO_TIMESTAMP
    updated_at_ms: int = NO_TIMESTAMP
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    client_version: int = 0  # of the transaction protocol, as far as the client told

    @property
    def is_epoch_exhausted(self) -> bool:
        """The last epoch is kept back, so that its producer can still be fenced."""
        return is_exhausted(self.producer_epoch)


def is_exhausted(producer_epoch: int) -> bool:
    return producer_epoch >= EPOCH_MAX - 1


def record_of(metadata: TransactionMetadata, transaction_version: int) -> NewRecord:
    """What the log says of an id, as readers at that level of transaction.version know it."""
    has_all = transaction_version >= TRANSACTION_V1
    value = TransactionLogValue(
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        transaction_timeout_ms=metadata.timeout_ms,
        transaction_status=metadata.state,
        transaction_partitions=_topics(metadata),
        transaction_last_update_timestamp_ms=metadata.updated_at_ms,
        transaction_start_timestamp_ms=metadata.started_at_ms,
        previous_producer_id=metadata.previous_producer_id if has_all else NO_PRODUCER_ID,
        next_producer_id=metadata.next_producer_id if has_all else NO_PRODUCER_ID,
        client_transaction_version=metadata.client_version if has_all else 0,
    )
    return NewRecord(
        _key(metadata.transactional_id), value, min(transaction_version, _VALUE_LATEST)
    )


def tombstone(transactional_id: str) -> NewRecord:
    """What ends an id."""
    return NewRecord(_key(transactional_id))


def metadata_of(transactional_id: str, value: TransactionLogValue) -> TransactionMetadata:
    return TransactionMetadata(
        transactional_id,
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        State(value.transaction_status),
        frozenset(
            TopicPartition(each.topic, index)
            for each in value.transaction_partitions or ()
            for index in each.partition_ids
        ),
        value.transaction_start_timestamp_ms,
        value.transaction_last_update_timestamp_ms,
        value.previous_producer_id,
        value.next_producer_id,
        value.client_transaction_version,
    )


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    indexes: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        indexes.setdefault(topic, []).append(index)
    return indexes


def _key(transactional_id: str) -> TransactionLogKey:
    return TransactionLogKey(transactional_id=transactional_id)


def _topics(metadata: TransactionMetadata) -> list[PartitionsSchema] | None:
    if metadata.state is State.EMPTY:
        return None
    return [
        PartitionsSchema(topic=topic, partition_ids=indexes)
        for topic, indexes in by_topic(metadata.partitions).items()
    ]
