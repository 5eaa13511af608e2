"""What a log is made of when it has been opened, and what it says of an append."""

from dataclasses import dataclass
from typing import NamedTuple

from snakka.storage.epochs import LeaderEpochs
from snakka.storage.producer_state import BatchMetadata, ProducerState
from snakka.storage.segments import Segments
from snakka.storage.snapshots import Snapshots


class Appended(NamedTuple):
    """Offsets of what was appended; of the first attempt, where this was a retry of it."""

    first_offset: int
    last_offset: int
    log_append_time: int | None = None
    is_duplicate: bool = False

    @classmethod
    def again(cls, batch: BatchMetadata) -> "Appended":
        return cls(batch.first_offset, batch.last_offset, batch.timestamp, is_duplicate=True)


@dataclass(slots=True)
class LogState:
    """What opening a log finds out about it."""

    segments: Segments
    epochs: LeaderEpochs
    snapshots: Snapshots
    producers: ProducerState
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
