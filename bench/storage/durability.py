"""Durable appends alone and in groups, and recovery after a crash."""

import asyncio
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import uvloop

from bench.storage.logs import MIB, best_of, fill, make_batch, open_at
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.group_commit import GroupCommit
from snakka.storage.opening import Checkpointed

APPENDERS: Final = 64
COMMIT_S: Final = 2.0


def group_commit(directory: Path) -> None:
    """Durable 1 KB batches: one fdatasync each, and 64 appenders who share theirs."""
    alone = append_one_by_one(directory / "g-0")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as the node has it
        shared = runner.run(append_together(directory / "g-1"))
    print(
        f"durable appends: {alone:.0f}/s one fsync each, {shared:.0f}/s from {APPENDERS} appenders "
        f"({shared / alone:.0f} times)"
    )
    shutil.rmtree(directory / "g-0")
    shutil.rmtree(directory / "g-1")


def append_one_by_one(directory: Path) -> float:
    log = open_at(directory, LogConfig(), Checkpointed(is_clean=True))
    template = make_batch(1024)
    started = time.perf_counter()
    while time.perf_counter() - started < COMMIT_S:
        log.append_as_leader(bytearray(template), leader_epoch=0, now_ms=0)
        unflushed = log.begin_flush_of_records()
        assert unflushed is not None
        unflushed.sync(LocalDisk())
        log.end_flush(unflushed)
    return log.log_end_offset / COMMIT_S


async def append_together(directory: Path) -> float:
    log = open_at(directory, LogConfig(), Checkpointed(is_clean=True))
    template = make_batch(1024)
    deadline = time.perf_counter() + COMMIT_S
    with ThreadPoolExecutor(2) as threads:
        commits = GroupCommit(LocalDisk(), threads)

        async def append_for_a_while() -> None:
            while time.perf_counter() < deadline:
                log.append_as_leader(bytearray(template), leader_epoch=0, now_ms=0)
                await commits.commit(log)

        await asyncio.gather(*(append_for_a_while() for _ in range(APPENDERS)))
    return log.log_end_offset / COMMIT_S


def recovery(directory: Path) -> None:
    """After a crash with 16 MiB unflushed, of a log of 64 MiB and of 640 MiB in one segment."""
    for size_bytes in (64 * MIB, 640 * MIB):
        path = directory / "r-0"
        log = open_at(path, LogConfig(), Checkpointed(is_clean=True))
        batch = make_batch()
        fill(log, batch, size_bytes)
        log.flush()
        recovery_point = log.recovery_point
        fill(log, batch, 16 * MIB)

        def reopen(path: Path = path, recovery_point: int = recovery_point) -> float:
            started = time.perf_counter()
            open_at(path, LogConfig(), Checkpointed(recovery_point=recovery_point))
            return time.perf_counter() - started

        took = best_of(reopen)
        print(f"recovery of 16 MiB past {size_bytes // MIB} MiB flushed: {took * 1e3:.1f} ms")
        shutil.rmtree(path)
