"""What travels between a user and a client: records as they come and go, and where they lie."""

from typing import NamedTuple

from snakka.protocol.records.batch import TimestampType
from snakka.protocol.records.record import Header


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class RecordMetadata(NamedTuple):
    """Where a record was written; the offset is -1 where no broker told it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int


class ConsumedRecord(NamedTuple):
    """A record as it was read."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    timestamp_type: TimestampType
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    leader_epoch: int
