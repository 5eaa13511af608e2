"""What an operator sets about groups; the names are Kafka's."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

_MINUTE_MS: Final = 60_000
_INT32_MAX: Final = (1 << 31) - 1


class MigrationPolicy(Enum):
    """Whether a live group may change its protocol, by group.consumer.migration.policy."""

    DISABLED = "disabled"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    BIDIRECTIONAL = "bidirectional"

    @property
    def can_upgrade(self) -> bool:
        return self in (MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL)

    @property
    def can_downgrade(self) -> bool:
        return self in (MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL)


class ConsumerSettings(NamedTuple):
    """What a consumer group may have of its own (KIP-848)."""

    session_timeout_ms: int = 45_000  # group.consumer.session.timeout.ms
    heartbeat_interval_ms: int = 5_000  # group.consumer.heartbeat.interval.ms


CONSUMER_DEFAULTS: Final = ConsumerSettings()


def _nothing(group_id: str) -> None:
    """No group has settings of its own."""


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

    consumer: ConsumerSettings = CONSUMER_DEFAULTS
    find_own: Callable[[str], ConsumerSettings | None] = _nothing  # of a group, if it has any
    consumer_max_size: int = _INT32_MAX  # group.consumer.max.size
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    consumer_assignors: tuple[str, ...] = ("uniform", "range")  # group.consumer.assignors

    # A member that has no id yet cannot send heartbeats; this ends the JoinGroup of one that died.
    new_member_join_timeout_ms: int = 5 * _MINUTE_MS
    # One batch of tombstones; more of them follow at once.
    expired_offsets_max: int = 1_000

    def of_group(self, group_id: str) -> ConsumerSettings:
        """What holds for the members of one consumer group."""
        return self.find_own(group_id) or self.consumer
