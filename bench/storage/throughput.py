"""Appends and reads against plain loops of the same system calls."""

import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from bench.storage.logs import BATCH_BYTES, MIB, ROUNDS, best_of, make_batch, open_at
from snakka.protocol.records.batch import batches
from snakka.storage.config import LogConfig
from snakka.storage.log import Log
from snakka.storage.opening import Checkpointed
from snakka.storage.read import LogRead

TOTAL_BYTES: Final = 512 * MIB
READ_BYTES: Final = MIB


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
            "checked": partial(raw_write, directory / "raw", is_synced, has_crc=True),
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
            print(
                f"  {best['checked'] / best[way]:.0%} of a raw loop that checks CRCs as well; "
                f"processor: raw {cpu['raw'] * each_us:.1f}, with CRC "
                f"{cpu['checked'] * each_us:.1f}, ours {cpu[way] * each_us:.1f} us"
            )


def raw_write(path: Path, is_synced: bool, *, has_crc: bool = False) -> float:
    path.unlink(missing_ok=True)
    batch = make_batch()
    (view,) = batches(batch)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    started = time.perf_counter()
    for position in range(0, TOTAL_BYTES, BATCH_BYTES):
        if has_crc:
            view.verify_crc()
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
