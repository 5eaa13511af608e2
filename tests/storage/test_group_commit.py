import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from snakka.storage.config import LogConfig
from snakka.storage.errors import LogFailedError
from snakka.storage.group_commit import GroupCommit
from snakka.storage.truncation import truncate_to
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, Harness, batch_of

CONFIG = LogConfig(segment_bytes=2000)


def stage(harness: Harness) -> int:
    batch = batch_of(b"x" * 30)
    return harness.log.append_as_leader(batch, leader_epoch=0, now_ms=NOW_MS).first_offset


def test_acknowledged_records_survive_a_power_loss(disk: SimulatedDisk) -> None:
    # pitfall 23
    harnesses = [Harness(disk, CONFIG, f"/logs/t-{n}") for n in range(3)]

    async def append(commits: GroupCommit, harness: Harness) -> None:
        for _ in range(10):
            offset = stage(harness)
            await commits.commit(harness.log)
            assert harness.log.durable_offset > offset

    async def run() -> int:
        with ThreadPoolExecutor(2) as threads:
            commits = GroupCommit(disk, threads)
            await asyncio.gather(*(append(commits, h) for h in harnesses for _ in range(8)))
            return commits.rounds

    rounds = asyncio.run(run())
    assert rounds <= 30, "240 appends share their syncs"
    disk.crash()
    for harness in harnesses:
        assert harness.log.recovery_point == 0
        harness.reopen_after_crash()
        assert harness.log.log_end_offset == 80


def test_a_failed_sync_fails_everybody_who_waits(disk: SimulatedDisk) -> None:
    harness = Harness(disk)

    async def run() -> list[BaseException | None]:
        with ThreadPoolExecutor(1) as threads:
            commits = GroupCommit(disk, threads)
            stage(harness)
            disk.failing = {"sync"}
            waiting = [commits.commit(harness.log) for _ in range(3)]
            return await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(result) for result in asyncio.run(run())] == [LogFailedError] * 3
    with pytest.raises(LogFailedError):
        stage(harness)


def test_a_cut_voids_a_sync_under_way(disk: SimulatedDisk) -> None:
    harness = Harness(disk)
    for _ in range(10):
        stage(harness)
    unflushed = harness.log.begin_flush_of_records()
    assert unflushed is not None
    unflushed.sync(disk)
    truncate_to(harness.log, 4)
    harness.log.end_flush(unflushed)
    assert harness.log.durable_offset == 0
    stage(harness)
    harness.log.flush()
    assert harness.log.durable_offset == harness.log.recovery_point == 5
    assert harness.log.begin_flush_of_records() is None
