"""What is refused of one share partition, and in which words."""

from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.protocol.error_codes import ErrorCode

# Kafka's words, which the leaders of share partitions log.
NEGATIVE_PARTITION: Final = "The partition id cannot be a negative number."
READ_UNINITIALIZED: Final = "Read operation on uninitialized share partition not allowed."
WRITE_UNINITIALIZED: Final = "Write operation on uninitialized share partition not allowed."


class ShareStateError(CoordinatorError):
    """`message` says more than the code does."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(code)
        self.message = message or code.message
