"""What a client raises. Whether the same call may succeed later is said by the error itself.

Kafka's error codes become exceptions by one table; a code that nobody tells apart from others is a
plain KafkaError. Errors of bytes (MalformedError, UnencodableError) come from protocol/errors.py.
"""

from typing import Final

from snakka.protocol.error_codes import ErrorCode


class ClientError(Exception):
    """Anything that a call on a cluster raises."""

    @property
    def is_retriable(self) -> bool:
        return False


class UnreachableError(ClientError):
    """A node that could not be connected to, or a connection that was lost or closed."""

    @property
    def is_retriable(self) -> bool:
        return True


class RequestTimedOutError(UnreachableError):
    """No answer in time; whether the request was carried out is not known."""


class UnsupportedRequestError(ClientError):
    """The node does not serve this request, or in no version that both sides know."""


class KafkaError(ClientError):
    """An answer that is an error of Kafka's."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(f"{code.name}: {message or code.message}")
        self.code = code
        self.message = message or code.message

    @property
    def is_retriable(self) -> bool:
        return self.code.is_retriable


class FencedError(KafkaError):
    """Another producer or member has taken this one's place: it cannot go on."""


class WrongNodeError(KafkaError):
    """Another node leads, coordinates or controls what was asked for."""


class OffsetOutOfRangeError(KafkaError):
    """The offset is before the log's start or after its end."""


_ERRORS: Final[dict[ErrorCode, type[KafkaError]]] = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE: WrongNodeError,
    ErrorCode.FENCED_INSTANCE_ID: FencedError,
    ErrorCode.INVALID_PRODUCER_EPOCH: FencedError,
    ErrorCode.NOT_CONTROLLER: WrongNodeError,
    ErrorCode.NOT_COORDINATOR: WrongNodeError,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: WrongNodeError,
    ErrorCode.OFFSET_OUT_OF_RANGE: OffsetOutOfRangeError,
    ErrorCode.PRODUCER_FENCED: FencedError,
}


def kafka_error(code: int, message: str | None = None) -> KafkaError:
    """The exception of a code that an answer holds, known or not."""
    try:
        known = ErrorCode(code)
    except ValueError:
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"error code {code}: {message}")
    return _ERRORS.get(known, KafkaError)(known, message)


def check(code: int, message: str | None = None) -> None:
    """Raises the exception of a code, unless it says that all is well."""
    if code:
        raise kafka_error(code, message)
