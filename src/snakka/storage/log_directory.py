"""One of `log.dirs`: the logs in it, and the checkpoints that cover all of them.

Invariants: the clean-shutdown marker is gone before any log is written to, and a log is cut only
after a recovery point that is not above the cut has been checkpointed.

Not here: placing partitions over several directories, and moving them.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

from snakka.storage.checkpoints import read_offsets, write_offsets
from snakka.storage.clean_shutdown import mark_clean, take_mark
from snakka.storage.config import LogConfig
from snakka.storage.errors import CorruptFileError, UncleanableError
from snakka.storage.log import Log
from snakka.storage.names import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    METADATA_TOPIC,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    DirectoryKind,
    TopicPartition,
    find_partition_directory,
    moving_directory_name,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from snakka.storage.truncation import truncate_fully, truncate_to

ConfigOf = Callable[[TopicPartition], LogConfig]


class OpenedDirectory(NamedTuple):
    """A log directory, and what had to be done to open it."""

    directory: "LogDirectory"
    was_clean: bool
    broker_epoch: int | None  # of the clean shutdown
    opened: dict[TopicPartition, OpenedLog]
    rebuilt: tuple[str, ...]


class LogDirectory:
    """The logs of one directory by partition. Blocks wherever it reads or writes."""

    def __init__(self, files: OpenFiles, path: str, rng: random.Random) -> None:
        self.path = path
        self.logs: dict[TopicPartition, Log] = {}
        self.cleaned_offsets: dict[TopicPartition, int] = {}  # where compaction goes on
        self.uncleanable: dict[TopicPartition, UncleanableError] = {}  # until a restart
        self._files = files
        self._rng = rng

    @classmethod
    def open(
        cls, files: OpenFiles, path: str, rng: random.Random, config_of: ConfigOf, *, now_ms: int
    ) -> OpenedDirectory:
        """Opens all logs, recovering them unless the directory was shut down cleanly."""
        directory = cls(files, path, rng)
        files.disk.make_directory(path)
        mark = take_mark(files.disk, path)
        rebuilt: list[str] = []
        starts, points, watermarks = (
            directory._read(name, rebuilt)
            for name in (
                LOG_START_OFFSET_CHECKPOINT,
                RECOVERY_POINT_CHECKPOINT,
                REPLICATION_OFFSET_CHECKPOINT,
            )
        )
        directory.cleaned_offsets = directory._read(CLEANER_OFFSET_CHECKPOINT, rebuilt)
        opened = {}
        for partition in directory._find_partitions():
            checkpointed = Checkpointed(
                starts.get(partition, 0),
                points.get(partition, 0),
                is_clean=mark is not None,
                has_gaps=partition in directory.cleaned_offsets,
            )
            config = config_of(partition)
            opened[partition] = directory._open(partition, config, checkpointed, now_ms)
            directory.logs[partition].update_high_watermark(watermarks.get(partition, 0))
        return OpenedDirectory(
            directory, mark is not None, mark and mark.broker_epoch, opened, tuple(rebuilt)
        )

    def create(self, partition: TopicPartition, config: LogConfig, *, now_ms: int) -> Log:
        """An empty log, or the one that is in the directory already."""
        if partition not in self.logs:
            self._open(partition, config, Checkpointed(is_clean=True), now_ms)
            self._files.disk.sync_directory(self.path)
        return self.logs[partition]

    def delete(self, partition: TopicPartition, unique_id: str) -> str:
        """Takes a log out of the directory; the path of what is left of it, to be swept."""
        log = self.logs.pop(partition)
        self.cleaned_offsets.pop(partition, None)
        log.release_writer()
        target = moving_directory_name(partition, DirectoryKind.DELETE, unique_id)
        self._files.disk.rename(log.directory, f"{self.path}/{target}")
        self._files.disk.sync_directory(self.path)
        return f"{self.path}/{target}"

    def sweep(self) -> None:
        """Removes for good what was deleted."""
        disk = self._files.disk
        for name in disk.names(self.path):
            found = find_partition_directory(name)
            if found is not None and found.kind is DirectoryKind.DELETE:
                path = f"{self.path}/{name}"
                for each in disk.names(path):
                    disk.remove(f"{path}/{each}")
                disk.remove_directory(path)

    def truncate_to(self, partition: TopicPartition, offset: int) -> bool:
        self._before_truncation(partition, offset)
        return truncate_to(self.logs[partition], offset)

    def truncate_fully(
        self, partition: TopicPartition, offset: int, *, log_start_offset: int | None = None
    ) -> None:
        self._before_truncation(partition, 0)
        truncate_fully(self.logs[partition], offset, log_start_offset=log_start_offset)

    def checkpoint(self) -> None:
        """Writes down how far every log is durable, where it starts, and what is committed."""
        logs = self.logs.items()
        self._write(RECOVERY_POINT_CHECKPOINT, {p: log.recovery_point for p, log in logs})
        self._write(REPLICATION_OFFSET_CHECKPOINT, {p: log.high_watermark for p, log in logs})
        starts = {
            partition: log.log_start_offset
            for partition, log in logs
            if log.log_start_offset > log.segments[0].base_offset
        }
        self._write(LOG_START_OFFSET_CHECKPOINT, starts)

    def was_compacted(self, partition: TopicPartition, end_offset: int) -> None:
        """The next pass over `partition` begins at `end_offset`, after a restart too."""
        self.cleaned_offsets[partition] = end_offset
        self._write_cleaned_offsets()

    def shut_down(self, broker_epoch: int) -> None:
        for log in self.logs.values():
            log.shut_down()
        self.checkpoint()
        mark_clean(self._files.disk, self.path, broker_epoch)

    def _find_partitions(self) -> list[TopicPartition]:
        found = map(find_partition_directory, self._files.disk.names(self.path))
        return [
            each.partition
            for each in found
            if each
            and each.kind is DirectoryKind.CURRENT
            and each.partition.topic != METADATA_TOPIC  # the quorum's, which opens it itself
        ]

    def _open(
        self, partition: TopicPartition, config: LogConfig, checkpointed: Checkpointed, now_ms: int
    ) -> OpenedLog:
        opened = open_log(
            self._files,
            f"{self.path}/{partition}",
            config,
            self._rng,
            checkpointed=checkpointed,
            now_ms=now_ms,
        )
        self.logs[partition] = opened.log
        return opened

    def _before_truncation(self, partition: TopicPartition, offset: int) -> None:
        """What is appended after a cut must pass for neither flushed nor cleaned."""
        if self.cleaned_offsets.get(partition, 0) > offset:
            self.cleaned_offsets[partition] = offset
            self._write_cleaned_offsets()
        points = {p: log.recovery_point for p, log in self.logs.items()}
        if points[partition] > offset:
            points[partition] = offset
            self._write(RECOVERY_POINT_CHECKPOINT, points)

    def _write_cleaned_offsets(self) -> None:
        offsets = {p: offset for p, offset in self.cleaned_offsets.items() if p in self.logs}
        self._write(CLEANER_OFFSET_CHECKPOINT, offsets)

    def _read(self, name: str, rebuilt: list[str]) -> dict[TopicPartition, int]:
        """A damaged checkpoint says nothing: everything is recovered, from the first segment on."""
        try:
            return read_offsets(self._files.disk, f"{self.path}/{name}")
        except CorruptFileError as error:
            rebuilt.append(error.path)
            return {}

    def _write(self, name: str, offsets: dict[TopicPartition, int]) -> None:
        write_offsets(self._files.disk, f"{self.path}/{name}", offsets)
