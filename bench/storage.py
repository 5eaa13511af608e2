"""Storage against the raw limits of the same disk: `python -m bench.storage [directory]`.

Appends and reads of 16 KB batches against plain loops of the same system calls, durable appends one
by one and in groups, recovery of a flushed log of one size and of ten times that, opening many idle
partitions and what each costs in memory, and compaction of many keys in its memory.
"""

import argparse
import asyncio
import gc
import math
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import uvloop

from snakka.protocol.records.batch import HEADER_BYTES, BatchHeader, batches, seal
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.storage.compaction.compact import Compaction, compact, look_at
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.config import CleanerConfig, LogConfig
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
COMPACTED_RECORDS = 10_000_000
COMPACTED_KEYS = 5_000_000
RECORDS_PER_BATCH = 64  # deltas of one byte: all records of a batch are of one size
RECORD_OVERHEAD_BYTES = 11  # of one record with a value of 128 bytes to 1 MiB


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Storage against the raw limits of the same disk; takes about a minute.",
        epilog="Example: python -m bench.storage /var/tmp",
    )
    parser.add_argument("directory", nargs="?", help="on the disk to measure; needs 4 GB there")
    where = parser.parse_args().directory
    directory = Path(tempfile.mkdtemp(prefix="snakka-bench-", dir=where))
    try:
        overhead_per_append()
        appends(directory)
        reads(directory)
        group_commit(directory)
        recovery(directory)
        idle_partitions(directory)
        compaction(directory)
        latency_beside_compaction(directory)
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
    """Leaves the last raw file and log for `reads`. Rounds alternate: neighbours slow all alike."""
    for is_synced, where in ((True, "to the platter"), (False, "to the page cache")):
        ways: dict[str, Callable[[], float]] = {
            "raw": partial(raw_write, directory / "raw", is_synced),
            "16": partial(append, directory / "t-0", 16, is_synced),
            "1": partial(append, directory / "t-0", 1, is_synced),
        }
        best = dict.fromkeys(ways, math.inf)
        cpu = dict.fromkeys(ways, math.inf)
        for _ in range(ROUNDS):
            for way, run in ways.items():
                before_s = time.process_time()
                best[way] = min(best[way], run())
                cpu[way] = min(cpu[way], time.process_time() - before_s)
        for way in ("16", "1"):
            report(f"append 16 KB batches {where}, {way} a loop turn", best["raw"], best[way])
            each_us = 1e6 * BATCH_BYTES / TOTAL_BYTES
            print(f"  processor: raw {cpu['raw'] * each_us:.1f}, ours {cpu[way] * each_us:.1f} us")


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


def compaction(directory: Path) -> None:
    """Ten million records of five million keys, in one pass and in the default memory."""
    log = open_at(directory / "c-0", LogConfig(is_compacted=True), Checkpointed(is_clean=True))
    fill_with_keys(log)
    log.roll(now_ms=0)
    log.flush()
    log.update_high_watermark(log.log_end_offset)
    before = resident_bytes()
    started = time.perf_counter()
    steps = Compaction(log, look_at(log, None, now_ms=0), CleanerConfig(), now_ms=0)
    steps.map_keys()
    mapped_s = time.perf_counter() - started
    peak = resident_bytes()
    while steps.has_more:
        steps.clean_next()
        peak = max(peak, resident_bytes())
        assert steps.place()
    steps.finish()
    took = time.perf_counter() - started
    assert steps.result.end_offset == COMPACTED_RECORDS
    print(
        f"compaction of {COMPACTED_RECORDS} records: {COMPACTED_RECORDS / took:.0f} records/s "
        f"({mapped_s:.1f} s to learn the keys, {took - mapped_s:.1f} s to write), "
        f"{steps.result.bytes_before // MIB} -> {steps.result.bytes_after // MIB} MiB, "
        f"{(peak - before) // MIB} MiB of memory"
    )


def fill_with_keys(log: Log, count: int = COMPACTED_RECORDS) -> None:
    rng = random.Random(0)
    records = [Record(n, 0, bytes(8), bytes(32)) for n in range(RECORDS_PER_BATCH)]
    batch = bytearray(build_batch(records))
    record_bytes = (len(batch) - HEADER_BYTES) // RECORDS_PER_BATCH
    key_positions = range(HEADER_BYTES + 5, len(batch), record_bytes)
    for _ in range(count // RECORDS_PER_BATCH):
        for position in key_positions:
            key = rng.randrange(COMPACTED_KEYS)
            batch[position : position + 8] = key.to_bytes(8, "big")
        sealed = bytearray(seal(BatchHeader.read(batch), batch[HEADER_BYTES:]))
        log.append_as_leader(sealed, leader_epoch=0, now_ms=0)
        log.write_staged()


def latency_beside_compaction(directory: Path) -> None:
    """How long a turn of the event loop takes while a thread compacts."""
    log = open_at(directory / "l-0", LogConfig(is_compacted=True), Checkpointed(is_clean=True))
    fill_with_keys(log, COMPACTED_RECORDS // 10)
    log.roll(now_ms=0)
    log.update_high_watermark(log.log_end_offset)
    for what, throttle in (
        ("without a pause", Throttle(math.inf, sleep=lambda _: None)),
        ("as it is", None),
    ):
        cleanable = look_at(log, None, now_ms=0)
        work = Compaction(log, cleanable, CleanerConfig(), now_ms=0, throttle=throttle)
        turns, took = asyncio.run(turns_beside(work))
        turns.sort()
        print(
            f"loop turns of 1 ms beside compaction {what}: median {turns[len(turns) // 2]:.2f} ms, "
            f"99% {turns[len(turns) * 99 // 100]:.2f} ms; the pass took {took:.1f} s"
        )


async def turns_beside(work: Compaction) -> tuple[list[float], float]:
    turns = []
    started = time.perf_counter()
    with ThreadPoolExecutor(1) as threads:
        running = asyncio.create_task(compact(work, threads))
        while not running.done():
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            turns.append((time.perf_counter() - before) * 1e3)
        await running
    return turns, time.perf_counter() - started


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
