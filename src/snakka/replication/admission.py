"""The rules of a topic that a client's batch has to keep. Pure.

The header is enough for most. Records are walked only where a rule is about them: the keys of a
compacted topic, or a codec that the topic does not store.

Not here: what makes a batch a batch, and sequences of producers (storage), whether the partition is
in the producer's transaction (verification.py).
"""

from dataclasses import dataclass
from typing import Final

from snakka.protocol.records.batch import Batch, BatchHeader, TimestampType
from snakka.protocol.records.builder import recompress
from snakka.protocol.records.compression import Compression
from snakka.replication.errors import ReplicationError

NO_LIMIT: Final = (1 << 63) - 1
_HOUR_MS: Final = 60 * 60 * 1000


class InvalidTimestampError(ReplicationError):
    """A timestamp too far from the broker's clock."""


class InvalidRecordsError(ReplicationError):
    """Records that the topic does not take, by their places in the batch."""

    def __init__(self, message: str, indexes: tuple[int, ...]) -> None:
        super().__init__(message)
        self.indexes = indexes


@dataclass(frozen=True, slots=True)
class TopicRules:
    """A topic's configuration as far as it limits what is appended."""

    min_insync_replicas: int = 1
    needs_keys: bool = False  # cleanup.policy names `compact`
    compression: Compression | None = None  # None keeps the producer's
    compression_level: int | None = None
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    timestamp_before_max_ms: int = NO_LIMIT
    timestamp_after_max_ms: int = _HOUR_MS


def admit(data: bytearray | memoryview, rules: TopicRules, now_ms: int) -> bytearray | memoryview:
    """The batch in `data` as the topic stores it; raises where the topic refuses it."""
    header = BatchHeader.read(data)
    if rules.timestamp_type is TimestampType.CREATE_TIME:
        _check_timestamp(header, rules, now_ms)
    if rules.needs_keys:
        _check_keys(_verified(header, data))
    if rules.compression is None or rules.compression is header.compression:
        return data
    batch = _verified(header, data)
    return bytearray(recompress(batch, rules.compression, level=rules.compression_level))


def _verified(header: BatchHeader, data: bytearray | memoryview) -> Batch:
    batch = Batch(header, memoryview(data))
    batch.verify_crc()
    return batch


def _check_keys(batch: Batch) -> None:
    keyless = tuple(index for index, record in enumerate(batch.records()) if record.key is None)
    if keyless:
        raise InvalidRecordsError("a compacted topic takes no record without a key", keyless)


def _check_timestamp(header: BatchHeader, rules: TopicRules, now_ms: int) -> None:
    if header.log_append_time is not None:
        raise InvalidTimestampError("only a broker stamps records with LogAppendTime")
    latest_ms = now_ms + rules.timestamp_after_max_ms
    if header.max_timestamp > latest_ms:
        raise InvalidTimestampError(
            f"timestamp {header.max_timestamp} is after {latest_ms}, the latest that "
            f"message.timestamp.after.max.ms={rules.timestamp_after_max_ms} allows"
        )
    earliest_ms = now_ms - rules.timestamp_before_max_ms
    if 0 <= header.base_timestamp < earliest_ms:
        raise InvalidTimestampError(
            f"timestamp {header.base_timestamp} is before {earliest_ms}, the earliest that "
            f"message.timestamp.before.max.ms={rules.timestamp_before_max_ms} allows"
        )
