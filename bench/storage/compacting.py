"""Compaction of many keys in its memory, and what it does to the event loop."""

import asyncio
import math
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from bench.storage.logs import MIB, open_at, resident_bytes
from snakka.protocol.records.batch import HEADER_BYTES, BatchHeader, seal
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.storage.compaction.compact import Compaction, compact, look_at
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.config import CleanerConfig, LogConfig
from snakka.storage.log import Log
from snakka.storage.opening import Checkpointed

RECORDS: Final = 10_000_000
KEYS: Final = 5_000_000
RECORDS_PER_BATCH: Final = 64  # deltas of one byte: all records of a batch are of one size


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
    assert steps.result.end_offset == RECORDS
    print(
        f"compaction of {RECORDS} records: {RECORDS / took:.0f} records/s "
        f"({mapped_s:.1f} s to learn the keys, {took - mapped_s:.1f} s to write), "
        f"{steps.result.bytes_before // MIB} -> {steps.result.bytes_after // MIB} MiB, "
        f"{(peak - before) // MIB} MiB of memory"
    )


def fill_with_keys(log: Log, count: int = RECORDS) -> None:
    rng = random.Random(0)
    records = [Record(n, 0, bytes(8), bytes(32)) for n in range(RECORDS_PER_BATCH)]
    batch = bytearray(build_batch(records))
    record_bytes = (len(batch) - HEADER_BYTES) // RECORDS_PER_BATCH
    key_positions = range(HEADER_BYTES + 5, len(batch), record_bytes)
    for _ in range(count // RECORDS_PER_BATCH):
        for position in key_positions:
            key = rng.randrange(KEYS)
            batch[position : position + 8] = key.to_bytes(8, "big")
        sealed = bytearray(seal(BatchHeader.read(batch), batch[HEADER_BYTES:]))
        log.append_as_leader(sealed, leader_epoch=0, now_ms=0)
        log.write_staged()


def latency_beside_compaction(directory: Path) -> None:
    """How long a turn of the event loop takes while a thread compacts."""
    log = open_at(directory / "l-0", LogConfig(is_compacted=True), Checkpointed(is_clean=True))
    fill_with_keys(log, RECORDS // 10)
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
