"""What comes of a command: records to append, and the answer once they are committed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Decision(Generic[R]):
    """The records of an atomic decision come to be together or not at all.

    Those of another may be appended in several batches, in their order: it follows from what
    happened to a broker rather than from a request, has as many records as there are partitions,
    and what a crash cuts off the next controller decides again.
    """

    response: R
    records: Sequence[MetadataRecord] = ()
    is_atomic: bool = True


class RefusedError(Exception):
    """A command, or one item of it, that is answered with an error.

    Without a message the client is told none, and prints that of the code.
    """

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(f"{code.name}: {message or code.message}")
        self.code = code
        self.message = message
