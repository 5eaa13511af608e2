"""Chores on real logs: that what is due gets done (pitfall 18)."""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from snakka.node.chores import Chores
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.storage.config import CleanerConfig, LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.log import Log
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory
from snakka.storage.names import TopicPartition
from snakka.storage.open_files import OpenFiles
from snakka.storage.upkeep import UpkeepConfig
from tests.storage.making import TOPIC_ID

NOW_MS = 1_700_000_000_000
SOON = UpkeepConfig(
    log_flush_scheduler_interval_ms=10,
    log_retention_check_interval_ms=10,
    log_cleaner_backoff_ms=10,
    replica_high_watermark_checkpoint_interval_ms=10,
    file_delete_delay_ms=10,
)
PARTITION = TopicPartition("t", 0)


class Clock:
    """Time that passes ten milliseconds a look."""

    def __init__(self) -> None:
        self.now_ms = NOW_MS

    def __call__(self) -> int:
        self.now_ms += 10
        return self.now_ms


@asynccontextmanager
async def working(
    path: Path, config: LogConfig, on_log_start: Callable[[str, int], None] = lambda *_: None
) -> AsyncIterator[Log]:
    disk, clock = LocalDisk(), Clock()
    directory = LogDirectory.open(
        OpenFiles(disk), str(path), random.Random(1), lambda _: config, now_ms=NOW_MS
    ).directory
    directories = LogDirectories({str(path): TOPIC_ID}, [directory], {})
    log = directories.create(PARTITION, TOPIC_ID, config, now_ms=NOW_MS)
    with ThreadPoolExecutor(1) as threads:
        chores = Chores(
            directories,
            disk,
            threads,
            SOON,
            CleanerConfig(),
            now_ms=clock,
            on_log_start=on_log_start,
            on_failure=lambda path, error: None,
        )
        async with chores.running():
            yield log


def append(log: Log, key: bytes, value: bytes, *, at_ms: int = NOW_MS) -> None:
    batch = build_batch([Record(0, at_ms, key, value)])
    log.append_as_leader(bytearray(batch), leader_epoch=0, now_ms=at_ms)
    log.write_staged()
    log.update_high_watermark(log.log_end_offset)


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.01)


def test_expired_segments_go(tmp_path: Path) -> None:
    moved = []

    async def scenario() -> None:
        async with working(
            tmp_path, LogConfig(retention_ms=1000), lambda *where: moved.append(where)
        ) as log:
            append(log, b"k", b"old", at_ms=NOW_MS - 5000)
            log.roll(now_ms=NOW_MS)
            append(log, b"k", b"new", at_ms=NOW_MS + 10**9)
            await eventually(lambda: log.log_start_offset == 1)
            await eventually(lambda: not (tmp_path / "t-0" / f"{0:020d}.log").exists())
            assert moved == [PARTITION]  # readers are told where the log begins

    asyncio.run(scenario())


def test_compacted_logs_keep_the_last_of_each_key(tmp_path: Path) -> None:
    config = LogConfig(is_compacted=True, is_deleted=False, min_cleanable_dirty_ratio=0.01)

    async def scenario() -> None:
        async with working(tmp_path, config) as log:
            for index in range(200):
                append(log, b"key", b"x" * 1000)
                if index == 150:
                    log.roll(now_ms=NOW_MS)
            await eventually(lambda: log.segments[0].size_bytes < 5000)
            assert log.log_end_offset == 200

    asyncio.run(scenario())


def test_sealed_segments_are_flushed_and_checkpointed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with working(tmp_path, LogConfig()) as log:
            append(log, b"k", b"v")
            log.roll(now_ms=NOW_MS)
            await eventually(lambda: log.recovery_point == 1)
            checkpoint = tmp_path / "recovery-point-offset-checkpoint"
            await eventually(lambda: checkpoint.exists() and "t 0 1" in checkpoint.read_text())

    asyncio.run(scenario())


def create_all(
    directories: LogDirectories, names: Iterable[TopicPartition], config: LogConfig
) -> list[Log]:
    return [directories.create(each, TOPIC_ID, config, now_ms=NOW_MS) for each in names]


def test_logs_come_and_go_beside_the_chores(tmp_path: Path) -> None:
    """Partitions are made and deleted by a thread, at any moment of a chore; nothing has failed."""
    failures: list[str] = []

    async def scenario() -> None:
        disk, clock = LocalDisk(), Clock()
        config = LogConfig(segment_bytes=100, retention_bytes=1, is_compacted=True)
        directory = LogDirectory.open(
            OpenFiles(disk),
            str(tmp_path),
            random.Random(1),
            lambda _: config,
            now_ms=NOW_MS,
            on_failure=lambda path, error: failures.append(f"{path}: {error}"),
        ).directory
        directories = LogDirectories({str(tmp_path): TOPIC_ID}, [directory], {})
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as threads:
            chores = Chores(
                directories,
                disk,
                threads,
                SOON,
                CleanerConfig(),
                now_ms=clock,
                on_log_start=lambda *_: None,
                on_failure=lambda path, error: failures.append(f"{path}: {error}"),
            )
            async with chores.running():
                for round_ in range(12):
                    names = [TopicPartition(f"t{round_}", index) for index in range(20)]
                    making = partial(create_all, directories, names, config)
                    logs = await loop.run_in_executor(threads, making)
                    for log in logs:
                        for index in range(3):
                            append(log, b"k", b"%d" % index)
                    for each in names:
                        delete = partial(directories.delete, each, now_ms=NOW_MS)
                        await loop.run_in_executor(threads, delete)
                # They still do what they are for.
                log = directories.create(PARTITION, TOPIC_ID, config, now_ms=NOW_MS)
                append(log, b"k", b"1")
                append(log, b"k", b"2")
                await eventually(lambda: log.log_start_offset > 0)

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        asyncio.run(scenario())
    finally:
        sys.setswitchinterval(interval_s)
    assert failures == []
