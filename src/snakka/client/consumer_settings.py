"""What a consumer can be told, with the names and defaults of Kafka's."""

from dataclasses import dataclass
from enum import StrEnum

from snakka.client.list_offsets import IsolationLevel


class OffsetReset(StrEnum):
    """Where to begin without a position, or where the position is no more."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """Without a `group_id` there is nothing to commit, and nobody to ask for partitions."""

    group_id: str | None = None
    group_instance_id: str | None = None
    group_remote_assignor: str | None = None
    client_rack: str = ""
    auto_offset_reset: OffsetReset = OffsetReset.LATEST
    enable_auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    max_poll_interval_ms: int = 300_000
    fetch_min_bytes: int = 1
    fetch_max_bytes: int = 50 * 1024 * 1024
    max_partition_fetch_bytes: int = 1024 * 1024
    fetch_max_wait_ms: int = 500
    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    check_crcs: bool = True
