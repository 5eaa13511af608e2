"""One of `log.dirs`: the logs in it, and the checkpoints that cover all of them.

Invariants: the clean-shutdown marker is gone before any log is written to, and a log is cut only
after a recovery point that is not above the cut has been checkpointed.

A partition's log is one of `logs`, or, while it moves in, one of `futures` (moving.py); what was
deleted goes for good after a while (`sweep`). Several directories of a node: log_directories.py.
"""

import random
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from snakka.protocol.types import Uuid
from snakka.storage.checkpoints import write_offsets
from snakka.storage.clean_shutdown import mark_clean, take_mark
from snakka.storage.config import LogConfig
from snakka.storage.disk import replace_file
from snakka.storage.errors import CorruptFileError, UncleanableError
from snakka.storage.identity import read_topic_id, write_topic_id
from snakka.storage.log import Log
from snakka.storage.names import (
    CLEANER_OFFSET_CHECKPOINT,
    METADATA_TOPIC,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    SNAPSHOT_SUFFIX,
    DirectoryKind,
    PartitionDirectory,
    TopicPartition,
    find_partition_directory,
    moving_directory_name,
    offset_file_name,
    random_unique_id,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from snakka.storage.outgoing import Outgoing
from snakka.storage.progress import read_progress, write_progress
from snakka.storage.truncation import truncate_fully, truncate_to

ConfigOf = Callable[[TopicPartition], LogConfig]

_NOTHING: Final = Checkpointed(is_clean=True)
_SYNCS_AT_A_TIME: Final = 16  # a file system's journal commits them together


class NewLog(NamedTuple):
    """A partition whose log is to be made."""

    partition: TopicPartition
    topic_id: Uuid
    config: LogConfig


class FutureStart(NamedTuple):
    """Where a future log begins, and what it cannot learn from the batches copied to it."""

    base_offset: int
    snapshot: bytes | None = None  # of the producers there
    cleaned_offset: int | None = None


class OpenedDirectory(NamedTuple):
    """A log directory, and what had to be done to open it."""

    directory: "LogDirectory"
    was_clean: bool
    broker_epoch: int | None  # of the clean shutdown
    opened: tuple[OpenedLog, ...]
    rebuilt: tuple[str, ...]


class LogDirectory:
    """The logs of one directory by partition. Blocks wherever it reads or writes."""

    def __init__(
        self,
        files: OpenFiles,
        path: str,
        rng: random.Random,
        on_failure: Callable[[str, OSError], None] = lambda path, error: None,
    ) -> None:
        self.path = path
        self.logs: dict[TopicPartition, Log] = {}
        self.futures: dict[TopicPartition, Log] = {}
        self.cleaned_offsets: dict[TopicPartition, int] = {}  # where compaction goes on
        self.uncleanable: dict[TopicPartition, UncleanableError] = {}  # until a restart
        self._outgoing = Outgoing(files.disk, path, rng)
        self._files = files
        self._rng = rng
        self._on_failure = on_failure

    @classmethod
    def open(
        cls,
        files: OpenFiles,
        path: str,
        rng: random.Random,
        config_of: ConfigOf,
        *,
        now_ms: int,
        on_failure: Callable[[str, OSError], None] = lambda path, error: None,
    ) -> OpenedDirectory:
        """Opens all logs, recovering them unless the directory was shut down cleanly."""
        directory = cls(files, path, rng, on_failure)
        files.disk.make_directory(path)
        mark = take_mark(files.disk, path)
        rebuilt: list[str] = []
        progress = read_progress(files.disk, path, rebuilt)
        directory.cleaned_offsets = progress.cleaned_offsets
        opened = []
        for name, (partition, kind) in directory._find_partitions(now_ms):
            checkpointed = progress.of(partition, is_clean=mark is not None)
            found = directory._open(name, config_of(partition), checkpointed, now_ms)
            found.log.update_high_watermark(progress.high_watermarks.get(partition, 0))
            opened.append(found)
            is_future = kind is DirectoryKind.FUTURE
            (directory.futures if is_future else directory.logs)[partition] = found.log
        return OpenedDirectory(
            directory, mark is not None, mark and mark.broker_epoch, tuple(opened), tuple(rebuilt)
        )

    def create(
        self, partition: TopicPartition, topic_id: Uuid, config: LogConfig, *, now_ms: int
    ) -> Log:
        """An empty log, which knows its topic's id before anything is appended."""
        self.create_all([NewLog(partition, topic_id, config)], now_ms=now_ms)
        return self.logs[partition]

    def create_all(self, wanted: Iterable[NewLog], *, now_ms: int) -> None:
        """Several at once: to wait for the disk one after the other takes many times as long."""
        made = [
            (each, self._open(str(each.partition), each.config, _NOTHING, now_ms).log)
            for each in wanted
        ]
        with ThreadPoolExecutor(_SYNCS_AT_A_TIME) as pool:
            for _ in pool.map(self._write_topic_id, made):
                pass
        self._files.disk.sync_directory(self.path)
        self.logs |= {each.partition: log for each, log in made}

    def _write_topic_id(self, made: tuple[NewLog, Log]) -> None:
        each, log = made
        path = f"{log.directory}/{PARTITION_METADATA}"
        write_topic_id(self._files.disk, path, each.topic_id)

    def create_future(
        self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
        start: FutureStart,
        *,
        now_ms: int,
    ) -> Log:
        """An empty log that another one of this partition, elsewhere, is to be copied to."""
        disk = self._files.disk
        name = moving_directory_name(partition, DirectoryKind.FUTURE, random_unique_id(self._rng))
        directory = f"{self.path}/{name}"
        disk.make_directory(directory)
        write_topic_id(disk, f"{directory}/{PARTITION_METADATA}", topic_id)
        if start.snapshot is not None:
            snapshot = offset_file_name(start.base_offset, SNAPSHOT_SUFFIX)
            replace_file(disk, f"{directory}/{snapshot}", start.snapshot)
        if start.cleaned_offset is not None:
            self.cleaned_offsets[partition] = start.cleaned_offset
        checkpointed = Checkpointed(start.base_offset, is_clean=True)
        log = self._open(name, config, checkpointed, now_ms).log
        disk.sync_directory(self.path)
        self.futures[partition] = log
        if start.cleaned_offset is not None:
            self.write_cleaned_offsets()
        return log

    def find_topic_id(self, log: Log) -> Uuid | None:
        """What the log's own directory says; None where it says nothing that can be read."""
        try:
            return read_topic_id(self._files.disk, f"{log.directory}/{PARTITION_METADATA}")
        except (FileNotFoundError, CorruptFileError):
            return None

    def remove(self, partition: TopicPartition, kind: DirectoryKind, *, now_ms: int) -> None:
        """Takes a log out of the directory: what is deleted is swept later, what is stray stays."""
        self._remove(self.logs, partition, kind, now_ms)

    def remove_future(
        self,
        partition: TopicPartition,
        kind: DirectoryKind = DirectoryKind.DELETE,
        *,
        now_ms: int,
    ) -> None:
        self._remove(self.futures, partition, kind, now_ms)

    def remove_replaced(self, partition: TopicPartition, log: Log, *, now_ms: int) -> None:
        """Takes out a log that was let go of when another directory's took its place."""
        self._outgoing.take(log, partition, DirectoryKind.DELETE, now_ms=now_ms)
        self.checkpoint()

    def _remove(
        self,
        logs: dict[TopicPartition, Log],
        partition: TopicPartition,
        kind: DirectoryKind,
        now_ms: int,
    ) -> None:
        log = logs.pop(partition)
        self.cleaned_offsets.pop(partition, None)
        self._outgoing.take(log, partition, kind, now_ms=now_ms)

    def promote(self, partition: TopicPartition) -> Log:
        """Makes the future log the partition's own; the name is durable after `sync_names`."""
        log = self.futures[partition]
        log.release_writer()
        target = f"{self.path}/{partition}"
        self._files.disk.rename(log.directory, target)
        log.was_renamed(target)
        self.logs[partition] = self.futures.pop(partition)
        return log

    def sync_names(self) -> None:
        self._files.disk.sync_directory(self.path)

    def sweep(self, delay_ms: int, *, now_ms: int) -> None:
        """Removes for good what was deleted so long ago."""
        self._outgoing.sweep(delay_ms, now_ms=now_ms)

    def truncate_to(self, partition: TopicPartition, offset: int) -> bool:
        self._before_truncation(partition, offset)
        return truncate_to(self.logs[partition], offset)

    def truncate_future_to(self, partition: TopicPartition, offset: int) -> None:
        self._before_truncation(partition, offset)
        truncate_to(self.futures[partition], offset)

    def truncate_fully(
        self, partition: TopicPartition, offset: int, *, log_start_offset: int | None = None
    ) -> None:
        self._before_truncation(partition, 0)
        truncate_fully(self.logs[partition], offset, log_start_offset=log_start_offset)

    def checkpoint(self) -> None:
        """Writes down how far every log is durable, where it starts, and what is committed."""
        write_progress(self._files.disk, self.path, self._all_logs())

    def was_compacted(self, partition: TopicPartition, end_offset: int) -> None:
        """The next pass over `partition` begins at `end_offset`, after a restart too."""
        self.cleaned_offsets[partition] = end_offset
        self.write_cleaned_offsets()

    def write_cleaned_offsets(self) -> None:
        logs = self._all_logs()
        offsets = {p: offset for p, offset in self.cleaned_offsets.items() if p in logs}
        write_offsets(self._files.disk, f"{self.path}/{CLEANER_OFFSET_CHECKPOINT}", offsets)

    def shut_down(self, broker_epoch: int) -> None:
        with ThreadPoolExecutor(_SYNCS_AT_A_TIME) as pool:
            for _ in pool.map(Log.shut_down, (*self.logs.values(), *self.futures.values())):
                pass
        self.checkpoint()
        mark_clean(self._files.disk, self.path, broker_epoch)

    def copy_of_logs(self) -> dict[TopicPartition, Log]:
        """For any thread to walk through: others add and remove logs meanwhile."""
        return dict(self.logs)

    def _all_logs(self) -> dict[TopicPartition, Log]:
        """No partition has both kinds in one directory. Copied: this runs in any thread."""
        return {**self.futures, **self.logs}

    def _find_partitions(self, now_ms: int) -> list[tuple[str, PartitionDirectory]]:
        """The directories with logs to be opened; what was deleted is remembered."""
        logs = []
        for name in self._files.disk.names(self.path):
            found = find_partition_directory(name)
            if found is None or found.partition.topic == METADATA_TOPIC:
                continue  # the quorum opens its log itself
            if found.kind is DirectoryKind.DELETE:
                self._outgoing.add(name, now_ms=now_ms)
            elif found.kind is not DirectoryKind.STRAY:
                logs.append((name, found))
        return logs

    def _open(
        self, name: str, config: LogConfig, checkpointed: Checkpointed, now_ms: int
    ) -> OpenedLog:
        opened = open_log(
            self._files,
            f"{self.path}/{name}",
            config,
            self._rng,
            checkpointed=checkpointed,
            now_ms=now_ms,
        )
        opened.log.on_failure = self.fail
        return opened

    def fail(self, error: OSError) -> None:
        """Something of this directory cannot be used any more, and so all of it."""
        self._on_failure(self.path, error)

    def _before_truncation(self, partition: TopicPartition, offset: int) -> None:
        """What is appended after a cut must pass for neither flushed nor cleaned."""
        if self.cleaned_offsets.get(partition, 0) > offset:
            self.cleaned_offsets[partition] = offset
            self.write_cleaned_offsets()
        points = {p: log.recovery_point for p, log in self._all_logs().items()}
        if points[partition] > offset:
            points[partition] = offset
            write_offsets(self._files.disk, f"{self.path}/{RECOVERY_POINT_CHECKPOINT}", points)
