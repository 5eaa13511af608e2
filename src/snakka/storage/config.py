"""The settings of one log, under Kafka's topic configuration names, with Kafka's defaults.

Not here: parsing and validating configuration (snakka.config).
"""

from dataclasses import dataclass
from typing import Final

from snakka.protocol.records.batch import TimestampType

_DAY_MS: Final = 24 * 60 * 60 * 1000
_MIB: Final = 1024 * 1024

UNLIMITED: Final = -1


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Immutable, so that logs with the same settings can share one."""

    segment_bytes: int = 1024 * _MIB
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * _MIB
    index_interval_bytes: int = 4096
    max_message_bytes: int = _MIB + 12
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    retention_ms: int = 7 * _DAY_MS
    retention_bytes: int = UNLIMITED
    is_deleted: bool = True  # cleanup.policy names `delete`
    is_compacted: bool = False  # cleanup.policy names `compact`
    producer_id_expiration_ms: int = _DAY_MS
