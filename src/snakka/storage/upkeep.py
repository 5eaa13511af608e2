"""What storage has to do besides serving: which chores are due, and for which logs. Decides only.

Whoever runs the node asks `Upkeep` for the chores whose interval is over, then the functions below
for the logs they concern, and does it: `Log.begin_flush` and `end_flush`, `enforce_retention`,
`compact`, `ProducerState.expire`, `LogDirectory.checkpoint`, `Segments.delete_retired`. Leaders and
followers are treated alike. A flush by `log.flush.interval.messages` is asked for after appends,
and not only when the interval is over.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

from snakka.storage.compaction.cleanable import Cleanable
from snakka.storage.compaction.compact import look_at
from snakka.storage.config import NEVER, LogConfig
from snakka.storage.log import Log
from snakka.storage.names import TopicPartition
from snakka.storage.retention import find_deletable

_SWEEP_INTERVAL_MS: Final = 10_000
_SEALED_FLUSH_INTERVAL_MS: Final = 1_000  # Kafka flushes a segment when it is sealed


class Chore(Enum):
    """A duty that comes around after a while."""

    FLUSH = auto()
    RETENTION = auto()
    COMPACTION = auto()
    CHECKPOINT = auto()  # all offset checkpoints of a directory
    EXPIRE_PRODUCERS = auto()
    UNLINK = auto()  # files of segments that are gone
    SWEEP = auto()  # directories of logs that are gone


@dataclass(frozen=True, slots=True)
class UpkeepConfig:
    """The intervals, under Kafka's names.

    The high watermark is checkpointed most often, and the other offsets with it.
    """

    log_flush_scheduler_interval_ms: int = NEVER
    log_retention_check_interval_ms: int = 300_000
    log_cleaner_backoff_ms: int = 15_000
    replica_high_watermark_checkpoint_interval_ms: int = 5_000
    producer_id_expiration_check_interval_ms: int = 600_000
    file_delete_delay_ms: int = 60_000


class Upkeep:
    """When each chore comes around again. All of it is soft state."""

    def __init__(self, config: UpkeepConfig, *, now_ms: int) -> None:
        self._interval_ms: dict[Chore, int] = {}
        self._due_at_ms: dict[Chore, int] = {}
        self.reconfigure(config, now_ms=now_ms)

    def reconfigure(self, config: UpkeepConfig, *, now_ms: int) -> None:
        """Chores whose interval has become shorter may be due at once."""
        before, self._interval_ms = (
            self._interval_ms,
            {
                Chore.FLUSH: min(config.log_flush_scheduler_interval_ms, _SEALED_FLUSH_INTERVAL_MS),
                Chore.RETENTION: config.log_retention_check_interval_ms,
                Chore.COMPACTION: config.log_cleaner_backoff_ms,
                Chore.CHECKPOINT: config.replica_high_watermark_checkpoint_interval_ms,
                Chore.EXPIRE_PRODUCERS: config.producer_id_expiration_check_interval_ms,
                Chore.UNLINK: config.file_delete_delay_ms,
                Chore.SWEEP: min(config.file_delete_delay_ms, _SWEEP_INTERVAL_MS),
            },
        )
        for chore, ms in self._interval_ms.items():
            begun_ms = self._due_at_ms.get(chore, now_ms) - before.get(chore, 0)
            self._due_at_ms[chore] = begun_ms + ms

    def next_deadline_ms(self) -> int:
        return min(self._due_at_ms.values())

    def take_due(self, now_ms: int) -> list[Chore]:
        """The chores that are due, each of which then waits for its interval again."""
        due = [chore for chore, due_at_ms in self._due_at_ms.items() if due_at_ms <= now_ms]
        for chore in due:
            self._due_at_ms[chore] = now_ms + self._interval_ms[chore]
        return due


class FlushFacts(NamedTuple):
    """How far a log is written and durable; `flushed_at_ms` is when it was flushed last."""

    log_end_offset: int
    durable_offset: int
    recovery_point: int
    active_base_offset: int
    flushed_at_ms: int


def needs_flush(facts: FlushFacts, config: LogConfig, now_ms: int) -> bool:
    """Whether a log is to be flushed: by count, by time, or because a segment was sealed.

    A sealed segment is flushed whole, whatever the settings: recovery then reads no more than the
    active one, and compaction finds nothing that a power loss could still take.
    """
    if facts.recovery_point < facts.active_base_offset:
        return True
    unflushed = facts.log_end_offset - facts.durable_offset
    if unflushed <= 0:
        return False
    return unflushed >= config.flush_messages or now_ms - facts.flushed_at_ms >= config.flush_ms


def find_due_for_flush(
    logs: Mapping[TopicPartition, Log], flushed_at_ms: Mapping[TopicPartition, int], *, now_ms: int
) -> list[TopicPartition]:
    """Logs to be flushed. Those without a time in `flushed_at_ms` count as flushed just now."""
    return [
        partition
        for partition, log in logs.items()
        if needs_flush(
            FlushFacts(
                log.log_end_offset,
                log.durable_offset,
                log.recovery_point,
                log.segments.active.base_offset,
                flushed_at_ms.get(partition, now_ms),
            ),
            log.config,
            now_ms,
        )
    ]


def find_due_for_retention(
    logs: Mapping[TopicPartition, Log], *, now_ms: int
) -> list[TopicPartition]:
    """Logs with segments that may go, compacted ones included: their start may have moved."""
    return [partition for partition, log in logs.items() if find_deletable(log, now_ms=now_ms)]


def find_due_for_compaction(
    logs: Mapping[TopicPartition, Log],
    cleaned_offsets: Mapping[TopicPartition, int],
    uncleanable: Collection[TopicPartition],
    *,
    now_ms: int,
) -> list[tuple[TopicPartition, Cleanable]]:
    """Logs to be compacted, the filthiest first. Uncleanable ones wait for an operator."""
    return in_order_of_dirt(
        (partition, log.config, look_at(log, cleaned_offsets.get(partition), now_ms=now_ms))
        for partition, log in logs.items()
        if log.config.is_compacted and partition not in uncleanable
    )


def in_order_of_dirt(
    candidates: Iterable[tuple[TopicPartition, LogConfig, Cleanable]],
) -> list[tuple[TopicPartition, Cleanable]]:
    due = [
        (partition, cleanable)
        for partition, config, cleanable in candidates
        if cleanable.is_due(config)
    ]
    return sorted(due, key=lambda entry: entry[1].dirty_ratio, reverse=True)
