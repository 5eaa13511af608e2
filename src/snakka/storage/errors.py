"""What storage raises. Each class stands for one answer to a client or one duty of an operator.

A batch whose bytes are wrong raises the protocol's `MalformedError` or `CorruptBatchError`.
Not here: error codes (one table, next to the APIs).
"""


class StorageError(Exception):
    """Anything storage refuses or cannot do."""


class LogFailedError(StorageError):
    """A write failed midway: the log takes no further part until it is opened anew."""


class LogDirNotFoundError(StorageError):
    """A path that is none of `log.dirs`."""


class LogDirOfflineError(StorageError):
    """A log directory that has failed."""


class LogDirCordonedError(StorageError):
    """A log directory that is to get no new partitions."""


class NameTooLongError(StorageError):
    """A partition whose directory cannot be named while it moves."""


class CorruptFileError(StorageError):
    """A file beside the records that is not what it should be: the path and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class UncleanableError(StorageError):
    """A batch that compaction cannot read. It stops there, and everything stays as it is."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(f"{path} at position {position}: {reason}")
        self.path = path
        self.position = position
        self.reason = reason


class OffsetOutOfRangeError(StorageError):
    """An offset below the log start or beyond the log end."""

    def __init__(self, offset: int, log_start_offset: int, log_end_offset: int) -> None:
        super().__init__(f"offset {offset} is not within [{log_start_offset}, {log_end_offset}]")
        self.offset = offset


class AppendError(StorageError):
    """An append that was refused. Nothing of it is in the log."""


class RecordTooLargeError(AppendError):
    """A batch larger than `max.message.bytes`."""


class RecordBatchTooLargeError(AppendError):
    """A batch larger than a whole segment may be."""


class InvalidRecordError(AppendError):
    """A batch that no client may send."""


class UnexpectedAppendOffsetError(AppendError):
    """Offsets from a leader that do not continue this log."""


class OutOfOrderSequenceError(AppendError):
    """A sequence number that leaves a gap, or does not start a new producer epoch."""


class InvalidProducerEpochError(AppendError):
    """A producer epoch that another instance of the producer has superseded."""


class InvalidTxnStateError(AppendError):
    """A batch that does not fit the producer's transaction."""


class TransactionCoordinatorFencedError(AppendError):
    """A marker of a coordinator that another one has superseded."""
