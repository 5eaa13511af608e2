"""A log directory's checkpoints: how far each log in it is durable, committed and compacted."""

from collections.abc import Mapping
from typing import NamedTuple

from snakka.storage.checkpoints import read_offsets, write_offsets
from snakka.storage.disk import Disk
from snakka.storage.errors import CorruptFileError
from snakka.storage.log import Log
from snakka.storage.names import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    TopicPartition,
)
from snakka.storage.opening import Checkpointed


class Progress(NamedTuple):
    """What the checkpoints said when the directory was opened."""

    log_start_offsets: dict[TopicPartition, int]
    recovery_points: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]
    cleaned_offsets: dict[TopicPartition, int]

    def of(self, partition: TopicPartition, *, is_clean: bool) -> Checkpointed:
        return Checkpointed(
            self.log_start_offsets.get(partition, 0),
            self.recovery_points.get(partition, 0),
            is_clean=is_clean,
            has_gaps=partition in self.cleaned_offsets,
        )


def read_progress(disk: Disk, path: str, rebuilt: list[str]) -> Progress:
    """A damaged checkpoint says nothing: everything is recovered, from the first segment on."""
    names = (
        LOG_START_OFFSET_CHECKPOINT,
        RECOVERY_POINT_CHECKPOINT,
        REPLICATION_OFFSET_CHECKPOINT,
        CLEANER_OFFSET_CHECKPOINT,
    )
    return Progress(*(_read(disk, f"{path}/{name}", rebuilt) for name in names))


def write_progress(disk: Disk, path: str, logs: Mapping[TopicPartition, Log]) -> None:
    """All but what was compacted, which is written when it changes."""
    starts = {
        partition: log.log_start_offset
        for partition, log in logs.items()
        if log.log_start_offset > log.segments[0].base_offset
    }
    for name, offsets in (
        (RECOVERY_POINT_CHECKPOINT, {p: log.recovery_point for p, log in logs.items()}),
        (REPLICATION_OFFSET_CHECKPOINT, {p: log.high_watermark for p, log in logs.items()}),
        (LOG_START_OFFSET_CHECKPOINT, starts),
    ):
        write_offsets(disk, f"{path}/{name}", offsets)


def _read(disk: Disk, path: str, rebuilt: list[str]) -> dict[TopicPartition, int]:
    try:
        return read_offsets(disk, path)
    except CorruptFileError as error:
        rebuilt.append(error.path)
        return {}
