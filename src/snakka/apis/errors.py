"""The one table from what was raised to what the client is told."""

from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import CorruptBatchError
from snakka.replication.admission import InvalidRecordsError, InvalidTimestampError
from snakka.replication.errors import (
    FencedLeaderEpochError,
    FetchSessionNotFoundError,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpochError,
    InvalidRequiredAcksError,
    NotEnoughReplicasError,
    NotLeaderError,
    ReplicaNotAvailableError,
    ReplicaOfflineError,
    UnknownLeaderEpochError,
    UnknownPartitionError,
    UnknownTopicIdError,
    UnverifiedTransactionError,
)
from snakka.storage.errors import (
    InvalidProducerEpochError,
    InvalidRecordError,
    InvalidTxnStateError,
    LogDirCordonedError,
    LogDirNotFoundError,
    LogDirOfflineError,
    LogFailedError,
    NameTooLongError,
    OffsetOutOfRangeError,
    OutOfOrderSequenceError,
    RecordBatchTooLargeError,
    RecordTooLargeError,
    TransactionCoordinatorFencedError,
)


class UnansweredError(Exception):
    """The connection is to end, for the request has no other answer: a failed Produce of acks=0."""


_CODES: Final[dict[type[Exception], ErrorCode]] = {
    CorruptBatchError: ErrorCode.CORRUPT_MESSAGE,
    FencedLeaderEpochError: ErrorCode.FENCED_LEADER_EPOCH,
    FetchSessionNotFoundError: ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    FetchSessionTopicIdError: ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    InvalidFetchSessionEpochError: ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    InvalidProducerEpochError: ErrorCode.INVALID_PRODUCER_EPOCH,
    InvalidRecordError: ErrorCode.INVALID_RECORD,
    InvalidRecordsError: ErrorCode.INVALID_RECORD,
    InvalidRequiredAcksError: ErrorCode.INVALID_REQUIRED_ACKS,
    InvalidTimestampError: ErrorCode.INVALID_TIMESTAMP,
    InvalidTxnStateError: ErrorCode.INVALID_TXN_STATE,
    LogDirCordonedError: ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    LogDirNotFoundError: ErrorCode.LOG_DIR_NOT_FOUND,
    LogDirOfflineError: ErrorCode.KAFKA_STORAGE_ERROR,
    LogFailedError: ErrorCode.KAFKA_STORAGE_ERROR,
    MalformedError: ErrorCode.CORRUPT_MESSAGE,
    NotEnoughReplicasError: ErrorCode.NOT_ENOUGH_REPLICAS,
    NameTooLongError: ErrorCode.INVALID_TOPIC_EXCEPTION,
    NotLeaderError: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    OSError: ErrorCode.KAFKA_STORAGE_ERROR,
    OffsetOutOfRangeError: ErrorCode.OFFSET_OUT_OF_RANGE,
    OutOfOrderSequenceError: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    RecordBatchTooLargeError: ErrorCode.RECORD_LIST_TOO_LARGE,
    RecordTooLargeError: ErrorCode.MESSAGE_TOO_LARGE,
    ReplicaNotAvailableError: ErrorCode.REPLICA_NOT_AVAILABLE,
    ReplicaOfflineError: ErrorCode.KAFKA_STORAGE_ERROR,
    TimeoutError: ErrorCode.REQUEST_TIMED_OUT,
    TransactionCoordinatorFencedError: ErrorCode.TRANSACTION_COORDINATOR_FENCED,
    UnknownLeaderEpochError: ErrorCode.UNKNOWN_LEADER_EPOCH,
    UnknownPartitionError: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    UnknownTopicIdError: ErrorCode.UNKNOWN_TOPIC_ID,
    UnverifiedTransactionError: ErrorCode.INVALID_TXN_STATE,
}

TOLD_ERRORS: Final[tuple[type[Exception], ...]] = (*_CODES, CoordinatorError)
"""What a client is told of; anything else is a fault of ours and closes the connection."""


def error_code(error: Exception) -> ErrorCode:
    """The code of the closest class in the table; a coordinator's refusal comes with its own."""
    if isinstance(error, CoordinatorError):
        return error.code
    return next(_CODES[each] for each in type(error).__mro__ if each in _CODES)


def fencing_code(code: ErrorCode, version: int, knows_fencing_from: int) -> ErrorCode:
    """Clients of older versions know a fenced producer by its epoch only."""
    if code is ErrorCode.PRODUCER_FENCED and version < knows_fencing_from:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
