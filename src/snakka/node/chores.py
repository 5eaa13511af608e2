"""What a node does for its logs besides serving: flushing, retention, compaction, checkpoints.

What is due, and for which logs, is decided in storage/upkeep.py; here it is done. What blocks runs
in the log directory's thread, compaction in one of its own; the logs themselves are touched on the
event loop only.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.storage.compaction.cleanable import Cleanable
from snakka.storage.compaction.compact import Compaction, compact
from snakka.storage.config import CleanerConfig
from snakka.storage.disk import Disk
from snakka.storage.errors import StorageError, UncleanableError
from snakka.storage.log import Log
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory
from snakka.storage.names import TopicPartition
from snakka.storage.retention import enforce_retention
from snakka.storage.upkeep import (
    Chore,
    Upkeep,
    UpkeepConfig,
    find_due_for_compaction,
    find_due_for_flush,
    find_due_for_retention,
)

log = logging.getLogger(__name__)

_POLL_S_MAX: Final = 1.0


def upkeep_config(config: BrokerConfig) -> UpkeepConfig:
    return UpkeepConfig(
        log_flush_scheduler_interval_ms=config.get_int("log.flush.scheduler.interval.ms"),
        log_retention_check_interval_ms=config.get_int("log.retention.check.interval.ms"),
        log_cleaner_backoff_ms=config.get_int("log.cleaner.backoff.ms"),
        replica_high_watermark_checkpoint_interval_ms=config.get_int(
            "replica.high.watermark.checkpoint.interval.ms"
        ),
        producer_id_expiration_check_interval_ms=config.get_int(
            "producer.id.expiration.check.interval.ms"
        ),
        file_delete_delay_ms=config.get_int("log.segment.delete.delay.ms"),
    )


def cleaner_config(config: BrokerConfig) -> CleanerConfig:
    return CleanerConfig(
        dedupe_buffer_size=config.get_int("log.cleaner.dedupe.buffer.size"),
        io_buffer_load_factor=config.get_float("log.cleaner.io.buffer.load.factor"),
        io_max_bytes_per_second=config.get_float("log.cleaner.io.max.bytes.per.second"),
    )


class Chores:
    """Does what is due, one chore at a time, in one log directory after the other."""

    def __init__(
        self,
        directories: LogDirectories,
        disk: Disk,
        threads: Executor,
        upkeep: UpkeepConfig,
        cleaner: CleanerConfig,
        *,
        now_ms: Callable[[], int],
        on_log_start: Callable[[str, int], None],
        on_failure: Callable[[str, OSError], None],
    ) -> None:
        self._on_log_start = on_log_start
        self._directories = directories
        self._disk = disk
        self._threads = threads
        self._upkeep = Upkeep(upkeep, now_ms=now_ms())
        self._file_delete_delay_ms = upkeep.file_delete_delay_ms
        self._cleaner = cleaner
        self._now_ms = now_ms
        self._on_failure = on_failure
        self._flushed_at_ms: dict[TopicPartition, int] = {}
        self._cleaner_thread = ThreadPoolExecutor(1, "log-cleaner")

    def reconfigure(self, upkeep: UpkeepConfig, cleaner: CleanerConfig) -> None:
        """Other intervals from now on; a compaction under way goes on as it began."""
        self._upkeep.reconfigure(upkeep, now_ms=self._now_ms())
        self._cleaner = cleaner

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Chores are done inside; one under way is broken off on leaving, and begins anew later."""
        task = asyncio.get_running_loop().create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._cleaner_thread.shutdown()

    async def _run(self) -> None:
        while True:
            for chore in self._upkeep.take_due(self._now_ms()):
                for directory in self._directories:
                    await self._try(chore, directory)
            await asyncio.sleep(self._pause_s())

    async def _try(self, chore: Chore, directory: LogDirectory) -> None:
        try:
            await self._do(chore, directory)
        except OSError as error:
            self._on_failure(directory.path, error)
        except StorageError:
            log.exception("%s failed", chore.name.lower())

    def _pause_s(self) -> float:
        left_s = (self._upkeep.next_deadline_ms() - self._now_ms()) / 1000
        return min(max(left_s, 0.0), _POLL_S_MAX)

    async def _do(self, chore: Chore, directory: LogDirectory) -> None:
        match chore:
            case Chore.FLUSH:
                await self._flush(directory)
            case Chore.RETENTION:
                self._retain(directory)
            case Chore.COMPACTION:
                await self._compact(directory)
            case Chore.CHECKPOINT:
                await self._in_thread(directory.checkpoint)
            case Chore.EXPIRE_PRODUCERS:
                self._expire_producers(directory)
            case Chore.UNLINK:
                await self._in_thread(lambda: _unlink(directory))
            case Chore.SWEEP:
                now_ms, delay_ms = self._now_ms(), self._file_delete_delay_ms
                await self._in_thread(lambda: directory.sweep(delay_ms, now_ms=now_ms))

    async def _flush(self, directory: LogDirectory) -> None:
        logs, now_ms = directory.copy_of_logs(), self._now_ms()
        for partition in find_due_for_flush(logs, self._flushed_at_ms, now_ms=now_ms):
            with _while_there(directory, partition, logs[partition]) as found:
                if found is not None:
                    await self._flush_one(found)
                    self._flushed_at_ms[partition] = self._now_ms()

    async def _flush_one(self, each: Log) -> None:
        unflushed = each.begin_flush()
        if unflushed is not None:
            await self._in_thread(lambda: unflushed.sync(self._disk))
            each.end_flush(unflushed)

    def _retain(self, directory: LogDirectory) -> None:
        logs, now_ms = directory.copy_of_logs(), self._now_ms()
        for partition in find_due_for_retention(logs, now_ms=now_ms):
            with _while_there(directory, partition, logs[partition]) as found:
                removed = 0 if found is None else enforce_retention(found, now_ms=now_ms)
                if removed:
                    log.info("%s: retention has removed %d segments", partition, removed)
                    self._on_log_start(*partition)

    async def _compact(self, directory: LogDirectory) -> None:
        logs = directory.copy_of_logs()
        due = find_due_for_compaction(
            logs,
            directory.cleaned_offsets,
            directory.uncleanable.keys(),
            now_ms=self._now_ms(),
        )
        busy = self._directories.busy
        for partition, cleanable in due:
            with _while_there(directory, partition, logs[partition]) as found:
                if found is None or partition in busy:
                    continue
                busy.add(partition)
                try:
                    await self._compact_one(partition, directory, found, cleanable)
                finally:
                    busy.discard(partition)

    async def _compact_one(
        self, partition: TopicPartition, directory: LogDirectory, found: Log, cleanable: Cleanable
    ) -> None:
        pass_ = Compaction(found, cleanable, self._cleaner, now_ms=self._now_ms())
        try:
            done = await compact(pass_, self._cleaner_thread)
        except UncleanableError as error:
            directory.uncleanable[partition] = error
            log.exception("%s is compacted no more until it is mended", partition)
            return
        if done is not None:
            end_offset = done.end_offset
            log.info("%s is compacted up to %d: %d bytes became %d", partition, *done)
            await self._in_thread(lambda: directory.was_compacted(partition, end_offset))

    def _expire_producers(self, directory: LogDirectory) -> None:
        now_ms = self._now_ms()
        for each in directory.copy_of_logs().values():
            each.producers.expire(now_ms, each.config.producer_id_expiration_ms)

    async def _in_thread(self, call: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, call)


@contextmanager
def _while_there(
    directory: LogDirectory, partition: TopicPartition, each: Log
) -> Iterator[Log | None]:
    """The log, unless it has been taken away; once it is, what fails of it is no failure."""

    def is_there() -> bool:
        return directory.logs.get(partition) is each

    try:
        yield each if is_there() else None
    except (OSError, StorageError):
        if is_there():
            raise


def _unlink(directory: LogDirectory) -> None:
    for each in directory.copy_of_logs().values():
        each.segments.delete_retired()
