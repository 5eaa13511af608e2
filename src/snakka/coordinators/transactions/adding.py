"""AddPartitionsToTxn and AddOffsetsToTxn: partitions that a transaction is about to write to.

KIP-890: brokers ask whether a partition is in a transaction, or add it, before they append to it.
"""

from collections.abc import Set as AbstractSet

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.metadata import TransactionMetadata
from snakka.protocol.error_codes import ErrorCode


def check_producer(
    current: TransactionMetadata | None, producer_id: int, producer_epoch: int
) -> TransactionMetadata:
    """The transaction of a producer that may still write to it."""
    if current is None:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if current.state.is_prepared and producer_id == current.next_producer_id:
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)  # it is its turn next
    if current.producer_id != producer_id:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if current.producer_epoch != producer_epoch:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
    if current.state.is_prepared:
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return current


def verify(
    current: TransactionMetadata, partitions: AbstractSet[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """Which of the partitions are in the transaction."""
    return {
        each: ErrorCode.NONE if each in current.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for each in partitions
    }
