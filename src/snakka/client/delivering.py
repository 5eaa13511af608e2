"""What becomes of a batch after an answer to it. Pure.

Not here: numbers and their order (batching.py).
"""

from enum import Enum, auto
from typing import Final

from snakka.protocol.error_codes import ErrorCode

_NUMBER_REFUSED: Final = frozenset(
    {ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID}
)


class Fate(Enum):
    WRITTEN = auto()
    RETRY = auto()
    RENUMBER = auto()
    GIVE_UP = auto()


def fate(code: ErrorCode, *, has_earlier: bool, is_transactional: bool) -> Fate:
    """`has_earlier`: a batch that belongs before this one is not written yet."""
    if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
        return Fate.WRITTEN
    if code in _NUMBER_REFUSED:
        # A gap before it is closed by the earlier batch's retry. Otherwise the broker has lost
        # what it knew, and numbers start over, which within a transaction only its end can do.
        if has_earlier:
            return Fate.RETRY
        return Fate.GIVE_UP if is_transactional else Fate.RENUMBER
    return Fate.RETRY if code.is_retriable else Fate.GIVE_UP
