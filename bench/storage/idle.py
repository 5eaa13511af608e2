"""Many partitions that nobody uses: how long they take to open, and what they cost."""

import gc
import random
import shutil
import time
from pathlib import Path
from typing import Final

from bench.storage.logs import BATCH_BYTES, fill, make_batch, open_at, resident_bytes
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, open_log

PARTITIONS: Final = 1000
SEGMENTS: Final = 5


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
