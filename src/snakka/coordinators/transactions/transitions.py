"""What a transactional id becomes: each function gives the metadata to be written next.

           init             add             end or fence          markers written
    (none) ----> EMPTY ----------> ONGOING -------------> PREPARE_* ----------> COMPLETE_*
                   ^                  ^                       ^                     |
                   +---- init --------+----- add -------------+-- abort (v2) -------+

Not here: whether a client may ask for it (initializing.py, adding.py, ending.py).
"""

from collections.abc import Iterable
from dataclasses import replace

from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.metadata import (
    EPOCH_MAX,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TRANSACTION_V2,
    State,
    TransactionMetadata,
)


def create(
    transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int
) -> TransactionMetadata:
    return TransactionMetadata(
        transactional_id,
        producer_id,
        producer_epoch=0,
        timeout_ms=timeout_ms,
        updated_at_ms=now_ms,
    )


def restart(
    current: TransactionMetadata,
    producer_id: int,
    producer_epoch: int,
    timeout_ms: int,
    now_ms: int,
) -> TransactionMetadata:
    """A producer that begins anew, with the id and epoch that it is given."""
    return replace(
        current,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        timeout_ms=timeout_ms,
        state=State.EMPTY,
        partitions=frozenset(),
        started_at_ms=NO_TIMESTAMP,
        updated_at_ms=now_ms,
        previous_producer_id=current.producer_id,
        next_producer_id=NO_PRODUCER_ID,
    )


def add(
    current: TransactionMetadata,
    partitions: Iterable[TopicPartition],
    client_version: int,
    now_ms: int,
) -> TransactionMetadata:
    is_begun = current.state is State.ONGOING
    return replace(
        current,
        state=State.ONGOING,
        partitions=current.partitions.union(partitions),
        started_at_ms=current.started_at_ms if is_begun else now_ms,
        updated_at_ms=now_ms,
        previous_producer_id=current.producer_id,
        client_version=client_version,
    )


def prepare(
    current: TransactionMetadata,
    *,
    is_committed: bool,
    client_version: int,
    next_producer_id: int,
    now_ms: int,
) -> TransactionMetadata:
    """The outcome is decided; with version 2 its markers carry an epoch that nobody wrote with."""
    epoch = current.producer_epoch
    is_begun = current.state is State.ONGOING
    return replace(
        current,
        producer_epoch=min(epoch + 1, EPOCH_MAX) if client_version >= TRANSACTION_V2 else epoch,
        state=State.PREPARE_COMMIT if is_committed else State.PREPARE_ABORT,
        started_at_ms=current.started_at_ms if is_begun else now_ms,
        updated_at_ms=now_ms,
        previous_producer_id=current.producer_id,
        next_producer_id=next_producer_id,
        client_version=client_version,
    )


def fence(current: TransactionMetadata, client_version: int, now_ms: int) -> TransactionMetadata:
    """The transaction is aborted and its producer shut out, by an epoch that it does not know."""
    aborted = prepare(
        current,
        is_committed=False,
        client_version=client_version,
        next_producer_id=NO_PRODUCER_ID,
        now_ms=now_ms,
    )
    return replace(aborted, producer_epoch=min(current.producer_epoch + 1, EPOCH_MAX))


def complete(current: TransactionMetadata, now_ms: int) -> TransactionMetadata:
    """All partitions know the outcome; where epochs had run out, the next producer id follows."""
    rotates = current.next_producer_id != NO_PRODUCER_ID
    is_committed = current.state is State.PREPARE_COMMIT
    return replace(
        current,
        producer_id=current.next_producer_id if rotates else current.producer_id,
        producer_epoch=0 if rotates else current.producer_epoch,
        state=State.COMPLETE_COMMIT if is_committed else State.COMPLETE_ABORT,
        partitions=frozenset(),
        updated_at_ms=now_ms,
        previous_producer_id=current.producer_id,
        next_producer_id=NO_PRODUCER_ID,
    )
