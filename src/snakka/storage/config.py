"""The settings of storage, under Kafka's configuration names, with Kafka's defaults.

`LogConfig` is a topic's, `CleanerConfig` the node's (`log.cleaner.` is left out of its names).

Not here: parsing and validating configuration (snakka.config).
"""

import math
from dataclasses import dataclass
from typing import Final

from snakka.protocol.records.batch import TimestampType

_DAY_MS: Final = 24 * 60 * 60 * 1000
_MIB: Final = 1024 * 1024

UNLIMITED: Final = -1
NEVER: Final = (1 << 63) - 1


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
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = NEVER
    delete_retention_ms: int = _DAY_MS
    flush_messages: int = NEVER
    flush_ms: int = NEVER

    @property
    def max_segment_ms(self) -> int:
        """Only sealed segments are compacted: what must be soon is sealed soon (KIP-354)."""
        if self.is_compacted and self.max_compaction_lag_ms > 0:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms


@dataclass(frozen=True, slots=True)
class CleanerConfig:
    """How much compaction may take of the node."""

    dedupe_buffer_size: int = 128 * _MIB  # bytes for the offsets of keys
    io_buffer_load_factor: float = 0.9
    io_max_bytes_per_second: float = math.inf  # read and written
