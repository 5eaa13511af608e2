"""EndTxn: commit or abort, and what a repeated, late or misplaced request is told.

With version 2 of the protocol (KIP-890) every transaction ends in a new epoch. A request that comes
late then carries an epoch that is over, and cannot end the producer's next transaction; a repeated
one is known by the epoch before the current one.
"""

from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.transactions.metadata import (
    EPOCH_MAX,
    TRANSACTION_V2,
    State,
    TransactionMetadata,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.end_txn import EndTxnRequest

_OUTCOMES: Final = {
    State.PREPARE_COMMIT: True,
    State.COMPLETE_COMMIT: True,
    State.PREPARE_ABORT: False,
    State.COMPLETE_ABORT: False,
}


def must_prepare(current: TransactionMetadata, request: EndTxnRequest, version: int) -> bool:
    """Whether the request ends a transaction; False where it has ended so already."""
    if version >= TRANSACTION_V2:
        return _must_prepare_v2(current, request)
    _check_producer(current, request)
    if current.state is State.ONGOING:
        return True
    _check_outcome(current, request)
    return False


def _must_prepare_v2(current: TransactionMetadata, request: EndTxnRequest) -> bool:
    if _is_repeated(current, request):
        _check_outcome(current, request)
        return False
    _check_producer(current, request)
    if current.state is State.ONGOING:
        return True
    if current.state.is_prepared:
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)  # the one before still ends
    # A producer may abort what the coordinator has not heard of: a batch that was never appended.
    if request.committed:
        raise CoordinatorError(ErrorCode.INVALID_TXN_STATE)
    return True


def _is_repeated(current: TransactionMetadata, request: EndTxnRequest) -> bool:
    if current.client_version < TRANSACTION_V2 or current.state not in _OUTCOMES:
        return False
    if request.producer_id == current.producer_id:
        return request.producer_epoch == current.producer_epoch - 1
    is_complete = not current.state.is_prepared
    return (
        is_complete
        and request.producer_id == current.previous_producer_id
        and request.producer_epoch == EPOCH_MAX - 1
        and current.producer_epoch == 0
    )


def _check_producer(current: TransactionMetadata, request: EndTxnRequest) -> None:
    if current.state.is_prepared and request.producer_id == current.next_producer_id:
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if request.producer_id != current.producer_id:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if request.producer_epoch != current.producer_epoch:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)


def _check_outcome(current: TransactionMetadata, request: EndTxnRequest) -> None:
    """Raises unless the transaction has ended as the request says, all partitions included."""
    if _OUTCOMES.get(current.state) is not request.committed:
        raise CoordinatorError(ErrorCode.INVALID_TXN_STATE)
    if current.state.is_prepared:
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
