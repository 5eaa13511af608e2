"""How much one command may do, so that what it writes fits in one batch of the metadata log."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from snakka.controller.decision import RefusedError
from snakka.protocol.error_codes import ErrorCode

RECORDS_MAX: Final = 10_000
PARTITIONS_MAX: Final = 10_000

# Takes a number of partitions from the sender's controller mutation quota (KIP-599), or raises
# RefusedError with THROTTLING_QUOTA_EXCEEDED.
Charge: TypeAlias = Callable[[int], None]


def no_quota(partitions: int) -> None:
    """For a sender without one."""


def check_record_count(records: Sequence[object]) -> None:
    if len(records) > RECORDS_MAX:
        raise RefusedError(
            ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
        )
