"""What an operator sets about transactions; the names are Kafka's."""

from dataclasses import dataclass
from typing import Final

_MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """Limits and intervals of the transaction coordinator, with Kafka's defaults."""

    max_timeout_ms: int = 15 * _MINUTE_MS  # transaction.max.timeout.ms
    id_expiration_ms: int = 7 * 24 * 60 * _MINUTE_MS  # transactional.id.expiration.ms
    # transaction.remove.expired.transaction.cleanup.interval.ms
    expiration_check_interval_ms: int = 60 * _MINUTE_MS
    # transaction.abort.timed.out.transaction.cleanup.interval.ms
    abort_retry_interval_ms: int = 10_000

    # One batch of tombstones, which has to fit in a log's batch; more of them follow at once.
    expired_ids_max: int = 30
    # Markers that a partition's leader did not take are sent again after this, and ever later.
    marker_retry_backoff_ms: int = 20
    marker_retry_backoff_max_ms: int = 1_000
