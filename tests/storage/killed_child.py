"""The victims of test_kill.py: `python -m tests.storage.killed_child`.

One interpreter starts and forks a child for every line it reads, so that a kill costs no start. A
line names what the child does for ever, the log's directory and its recovery point. The child says
after every write how far it is; when it is dead that is said, too.
"""

import os
import random
import sys
from collections.abc import Callable
from typing import Final

from snakka.storage.compaction.compact import Compaction, look_at
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.log import Log
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from tests.storage.making import SMALL_MAP, batch_of, keyed

APPENDING: Final = LogConfig(segment_bytes=20_000, index_interval_bytes=500)
COMPACTING: Final = LogConfig(segment_bytes=4_000, index_interval_bytes=500, is_compacted=True)
KEYS: Final = 20


def opened(directory: str, recovery_point: int, config: LogConfig) -> OpenedLog:
    return open_log(
        OpenFiles(LocalDisk()),
        directory,
        config,
        random.Random(0),
        checkpointed=Checkpointed(recovery_point=recovery_point),
        now_ms=0,
    )


def append(directory: str, recovery_point: int) -> None:
    """Batches of one record, which is its own offset; rolls and flushes."""
    log = opened(directory, recovery_point, APPENDING).log
    rng = random.Random()
    sequence = log.log_end_offset
    while True:
        for _ in range(rng.randint(1, 5)):
            value = b"%d" % sequence * rng.randint(1, 50)
            batch = batch_of(value, producer_id=1, epoch=0, sequence=sequence)
            log.append_as_leader(batch, leader_epoch=0, now_ms=0)
            sequence += 1
        log.write_staged()
        if rng.random() < 0.05:
            log.flush()
        tell(log)


def compact(directory: str, recovery_point: int) -> None:
    """Few keys, each with its offset as its value; compacts again and again."""
    log = opened(directory, recovery_point, COMPACTING).log
    rng = random.Random()
    while True:
        for _ in range(rng.randint(1, 60)):
            offset = log.log_end_offset
            record = (b"%d" % (offset % KEYS), b"%d" % offset)
            log.append_as_leader(keyed(record), leader_epoch=0, now_ms=0)
            log.write_staged()
        tell(log)
        log.update_high_watermark(log.log_end_offset)
        log.roll(now_ms=0)
        work = Compaction(log, look_at(log, None, now_ms=0), SMALL_MAP, now_ms=0)
        work.map_keys()
        while work.has_more:
            work.clean_next()
            work.place()
        work.finish()
        if rng.random() < 0.3:
            log.flush()
        if rng.random() < 0.5:
            log.segments.delete_retired()
        tell(log)


def tell(log: Log) -> None:
    os.write(1, b"%d %d\n" % (log.log_end_offset, log.recovery_point))


TASKS: Final[dict[str, Callable[[str, int], None]]] = {"append": append, "compact": compact}


def serve() -> None:
    for line in sys.stdin:
        task, directory, recovery_point = line.split()
        child = os.fork()
        if not child:
            TASKS[task](directory, int(recovery_point))
        os.write(1, b"pid %d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(1, b"dead %d\n" % status)


if __name__ == "__main__":
    serve()
