"""What coordinators refuse, as error codes, and which of them a client is told.

A log's own errors mean nothing to a client of a coordinator: `told` turns them into those that
make it look for the coordinator again, or retry.
"""

from typing import Final

from snakka.protocol.error_codes import ErrorCode


class CoordinatorError(Exception):
    """A request that a coordinator refuses as a whole."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class LogRefusedError(Exception):
    """The partition's log did not take a batch; nothing of it was appended."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


_TOLD: Final = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def told(code: ErrorCode) -> ErrorCode:
    """What a client is told where the coordinator's log answered `code`."""
    return _TOLD.get(code, code)
