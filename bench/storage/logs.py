"""Logs and batches to measure, and how measuring is done."""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from snakka.protocol.records.batch import HEADER_BYTES
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.log import Log
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, open_log

MIB: Final = 1 << 20
BATCH_BYTES: Final = 16 * 1024
ROUNDS: Final = 3
_RECORD_OVERHEAD_BYTES: Final = 11  # of one record with a value of 128 bytes to 1 MiB


def make_batch(size_bytes: int = BATCH_BYTES, *, producer_id: int = -1) -> bytearray:
    value = random.Random(0).randbytes(size_bytes - HEADER_BYTES - _RECORD_OVERHEAD_BYTES)
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


def fill(log: Log, batch: bytearray, size_bytes: int) -> None:
    for _ in range(size_bytes // BATCH_BYTES):
        batch[:8] = bytes(8)
        log.append_as_leader(batch, leader_epoch=0, now_ms=0)
        log.write_staged()


def best_of(run: Callable[[], float]) -> float:
    return min(run() for _ in range(ROUNDS))


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
