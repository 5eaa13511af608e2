"""What an operator sets about groups; the names are Kafka's."""

from dataclasses import dataclass
from typing import Final

_MINUTE_MS: Final = 60_000
_INT32_MAX: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Limits and delays of the group coordinator, with Kafka's defaults."""

    initial_rebalance_delay_ms: int = 3_000  # group.initial.rebalance.delay.ms
    min_session_timeout_ms: int = 6_000  # group.min.session.timeout.ms
    max_session_timeout_ms: int = 30 * _MINUTE_MS  # group.max.session.timeout.ms
    max_size: int = _INT32_MAX  # group.max.size
    offset_metadata_max_bytes: int = 4_096  # offset.metadata.max.bytes
    offsets_retention_ms: int = 7 * 24 * 60 * _MINUTE_MS  # offsets.retention.minutes
    offsets_retention_check_interval_ms: int = 10 * _MINUTE_MS

    consumer_session_timeout_ms: int = 45_000  # group.consumer.session.timeout.ms
    consumer_heartbeat_interval_ms: int = 5_000  # group.consumer.heartbeat.interval.ms
    consumer_max_size: int = _INT32_MAX  # group.consumer.max.size

    # A member that has no id yet cannot send heartbeats; this ends the JoinGroup of one that died.
    new_member_join_timeout_ms: int = 5 * _MINUTE_MS
    # One batch of tombstones; more of them follow at once.
    expired_offsets_max: int = 1_000
