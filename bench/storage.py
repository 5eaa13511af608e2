"""Storage against the raw limits of the same disk: `python -m bench.storage [directory]`.

Appends and reads of 16 KB batches against plain loops of the same system calls, durable appends one
by one and in groups, recovery of a flushed log of one size and of ten times that, and opening many
idle partitions and what each costs in memory.
"""

import asyncio
import gc
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from snakka.protocol.records.batch import HEADER_BYTES, batches
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.group_commit import GroupCommit
from snakka.storage.log import Log
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, open_log
from snakka.storage.read import LogRead

MIB = 1 << 20
BATCH_BYTES = 16 * 1024
TOTAL_BYTES = 512 * MIB
READ_BYTES = MIB
PARTITIONS = 1000
SEGMENTS = 5
ROUNDS = 3
APPENDERS = 64
COMMIT_S = 2.0
RECORD_OVERHEAD_BYTES = 11  # of one record with a value of 128 bytes to 1 MiB


def main() -> None:
    where = sys.argv[1] if len(sys.argv) > 1 else None
    directory = Path(tempfile.mkdtemp(prefix="snakka-bench-", dir=where))
    try:
        overhead_per_append()
        appends(directory)
        reads(directory)
        group_commit(directory)
        recovery(directory)
        idle_partitions(directory)
    finally:
        shutil.rmtree(directory)


def make_batch(size_bytes: int = BATCH_BYTES, *, producer_id: int = -1) -> bytearray:
    value = random.Random(0).randbytes(size_bytes - HEADER_BYTES - RECORD_OVERHEAD_BYTES)
    return bytearray(
        build_batch(
            [Record(0, int(time.time() * 1000), None, value)],
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=0 if producer_id >= 0 else -1,
        )
    )


def open_at(directory: Path, config: LogConfig, checkpointed: Checkpointed) -> Log:
    files = OpenFiles(LocalDisk())
    return open_log(
        files, str(directory), config, random.Random(0), checkpointed=checkpointed, now_ms=0
    ).log


def best_of(run: Callable[[], float]) -> float:
    return min(run() for _ in range(ROUNDS))


def overhead_per_append() -> None:
    """What one staged append costs beyond the CRC and the system call, in memory only."""
    directory = Path(tempfile.mkdtemp(prefix="snakka-bench-", dir="/dev/shm"))
    log = open_at(directory, LogConfig(), Checkpointed(is_clean=True))
    batch = make_batch()
    (view,) = batches(bytes(batch))
    count = 2000

    def crc() -> float:
        started = time.perf_counter()
        for _ in range(count):
            view.verify_crc()
        return (time.perf_counter() - started) / count

    def stage() -> float:
        started = time.perf_counter()
        for _ in range(count):
            batch[:8] = bytes(8)
            log.append_as_leader(batch, leader_epoch=0, now_ms=0)
        took = (time.perf_counter() - started) / count
        log.write_staged()
        return took

    crc_s, stage_s = best_of(crc), best_of(stage)
    print(
        f"staging a 16 KB batch: {stage_s * 1e6:.1f} us, of which CRC {crc_s * 1e6:.1f} us; "
        f"ours {(stage_s - crc_s) * 1e6:.1f} us"
    )
    shutil.rmtree(directory)


def appends(directory: Path) -> None:
    """Leaves the last raw file and log for `reads`."""
    for is_synced, where in ((True, "to the platter"), (False, "to the page cache")):
        raw_s = best_of(partial(raw_write, directory / "raw", is_synced))
        for batches_per_turn in (16, 1):
            ours_s = best_of(partial(append, directory / "t-0", batches_per_turn, is_synced))
            what = f"append 16 KB batches {where}, {batches_per_turn} a loop turn"
            report(what, raw_s, ours_s)


def raw_write(path: Path, is_synced: bool) -> float:
    path.unlink(missing_ok=True)
    batch = make_batch()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    started = time.perf_counter()
    for position in range(0, TOTAL_BYTES, BATCH_BYTES):
        os.pwritev(descriptor, [batch], position)
    if is_synced:
        os.fdatasync(descriptor)
    took = time.perf_counter() - started
    os.close(descriptor)
    return took


def append(directory: Path, batches_per_turn: int, is_synced: bool) -> float:
    shutil.rmtree(directory, ignore_errors=True)
    log = open_at(directory, LogConfig(), Checkpointed(is_clean=True))
    # As clients send them: each in its own part of a receive buffer, offsets from 0.
    received = memoryview(bytearray(make_batch() * batches_per_turn))
    parts = [received[n : n + BATCH_BYTES] for n in range(0, len(received), BATCH_BYTES)]
    started = time.perf_counter()
    for _ in range(TOTAL_BYTES // len(received)):
        for part in parts:
            part[:8] = bytes(8)
            log.append_as_leader(part, leader_epoch=0, now_ms=0)
        log.write_staged()
    if is_synced:
        log.flush()
    took = time.perf_counter() - started
    log.shut_down()
    return took


def reads(directory: Path) -> None:
    log = open_at(directory / "t-0", LogConfig(), Checkpointed(is_clean=True))
    sink = os.memfd_create("sink")  # unlike /dev/null, it takes a real copy of the bytes
    find_s = best_of(partial(find_all, log)) / (TOTAL_BYTES // READ_BYTES)
    print(f"finding a run of 1 MiB in a sealed segment: {find_s * 1e6:.1f} us")
    raw_s = best_of(partial(raw_send, directory / "raw", sink))
    report("read in runs of 1 MiB (sendfile)", raw_s, best_of(partial(send_all, log, sink)))
    raw_s = best_of(partial(raw_copy, directory / "raw"))
    report("read in runs of 1 MiB (copied)", raw_s, best_of(partial(copy_all, log)))
    os.close(sink)
    (directory / "raw").unlink()
    shutil.rmtree(directory / "t-0")


def runs(log: Log) -> Iterator[LogRead]:
    for offset in range(0, log.log_end_offset, READ_BYTES // BATCH_BYTES):
        yield log.read(offset, max_bytes=READ_BYTES, max_offset=log.log_end_offset)


def find_all(log: Log) -> float:
    started = time.perf_counter()
    for _ in runs(log):
        pass
    return time.perf_counter() - started


def raw_send(path: Path, sink: int) -> float:
    descriptor = os.open(path, os.O_RDONLY)
    started = time.perf_counter()
    for position in range(0, TOTAL_BYTES, READ_BYTES):
        os.lseek(sink, 0, os.SEEK_SET)
        os.sendfile(sink, descriptor, position, READ_BYTES)
    took = time.perf_counter() - started
    os.close(descriptor)
    return took


def send_all(log: Log, sink: int) -> float:
    started = time.perf_counter()
    for found in runs(log):
        os.lseek(sink, 0, os.SEEK_SET)
        for run in found.runs:
            os.sendfile(sink, run.file.fileno(), run.position, run.size_bytes)
    return time.perf_counter() - started


def raw_copy(path: Path) -> float:
    descriptor = os.open(path, os.O_RDONLY)
    started = time.perf_counter()
    for position in range(0, TOTAL_BYTES, READ_BYTES):
        os.pread(descriptor, READ_BYTES, position)
    took = time.perf_counter() - started
    os.close(descriptor)
    return took


def copy_all(log: Log) -> float:
    started = time.perf_counter()
    for found in runs(log):
        found.copy()
    return time.perf_counter() - started


def report(what: str, raw_s: float, ours_s: float) -> None:
    rate = TOTAL_BYTES / MIB
    print(
        f"{what}: raw {rate / raw_s:.0f} MiB/s, ours {rate / ours_s:.0f} MiB/s "
        f"({raw_s / ours_s:.0%})"
    )


def group_commit(directory: Path) -> None:
    """Durable 1 KB batches: one fdatasync each, and 64 appenders who share theirs."""
    alone = append_one_by_one(directory / "g-0")
    shared = asyncio.run(append_together(directory / "g-1"))
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


def fill(log: Log, batch: bytearray, size_bytes: int) -> None:
    for _ in range(size_bytes // BATCH_BYTES):
        batch[:8] = bytes(8)
        log.append_as_leader(batch, leader_epoch=0, now_ms=0)
        log.write_staged()


def idle_partitions(directory: Path) -> None:
    config = LogConfig()
    template = directory / "template"
    log = open_at(template, config, Checkpointed(is_clean=True))
    for n in range(SEGMENTS):
        if n:
            log.roll(now_ms=0)
        fill(log, make_batch(), 2 * BATCH_BYTES)
    end_offset = log.log_end_offset
    log.shut_down()
    copies = [directory / f"idle-{n}" for n in range(PARTITIONS)]
    for path in copies:
        shutil.copytree(template, path)
    del log
    checkpointed = Checkpointed(0, end_offset, is_clean=True)
    gc.collect()
    before = resident_bytes()
    started = time.perf_counter()
    files, rng = OpenFiles(LocalDisk()), random.Random(0)
    logs = [
        open_log(files, str(path), config, rng, checkpointed=checkpointed, now_ms=0).log
        for path in copies
    ]
    took = time.perf_counter() - started
    gc.collect()
    each = (resident_bytes() - before) / PARTITIONS
    assert all(log.log_end_offset == end_offset for log in logs)
    print(
        f"opening {PARTITIONS} partitions of {SEGMENTS} segments: {took:.2f} s, "
        f"{each / 1024:.1f} KiB resident each"
    )


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
