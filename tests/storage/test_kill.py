"""A process that appends is killed with SIGKILL at random moments; what it acknowledged is there.

SNAKKA_KILLS sets how often.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from snakka.protocol.records.batch import batches
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.log import Log
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, OpenedLog, open_log
from tests.storage.making import batch_of

KILLS = int(os.environ.get("SNAKKA_KILLS", "30"))
CONFIG = LogConfig(segment_bytes=20_000, index_interval_bytes=500)
ROOT = Path(__file__).parents[2]


def opened(directory: str, recovery_point: int) -> OpenedLog:
    return open_log(
        OpenFiles(LocalDisk()),
        directory,
        CONFIG,
        random.Random(0),
        checkpointed=Checkpointed(recovery_point=recovery_point),
        now_ms=0,
    )


def append_for_ever(directory: str, recovery_point: int) -> None:
    """The child: appends, rolls and flushes, and says after every write how far it is."""
    log = opened(directory, recovery_point).log
    rng = random.Random()
    sequence = len(producer_batches(log))
    while True:
        for _ in range(rng.randint(1, 5)):
            batch = batch_of(
                b"%d" % sequence * rng.randint(1, 50),
                producer_id=1,
                epoch=0,
                sequence=sequence,
            )
            log.append_as_leader(batch, leader_epoch=0, now_ms=0)
            sequence += 1
        log.write_staged()
        if rng.random() < 0.05:
            log.flush()
        os.write(1, b"%d %d\n" % (log.log_end_offset, log.recovery_point))


def producer_batches(log: Log) -> list[int]:
    data = log.read(0, max_bytes=1 << 30, max_offset=log.log_end_offset).copy()
    return [batch.header.base_sequence for batch in batches(data)]


def test_acknowledged_records_survive_sigkill(tmp_path: Path) -> None:
    # pitfall 47
    directory = str(tmp_path / "t-0")
    rng = random.Random(7)
    end_offset = recovery_point = 0
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    for _ in range(KILLS):
        command = [sys.executable, __file__, directory, str(recovery_point)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert child.stdout is not None
        first = child.stdout.readline()
        time.sleep(rng.random() * 0.05)
        child.kill()
        lines = [first, *child.stdout.read().splitlines(keepends=True)]
        child.wait()
        child.stdout.close()
        whole = [line for line in lines if line.endswith(b"\n")]
        end_offset, recovery_point = map(int, whole[-1].split())
        log = opened(directory, recovery_point).log
        assert log.log_end_offset >= end_offset
        sequences = producer_batches(log)
        assert sequences == list(range(log.log_end_offset))
        (producer,) = log.producers.entries
        assert producer.last_sequence == log.log_end_offset - 1


if __name__ == "__main__":
    append_for_ever(sys.argv[1], int(sys.argv[2]))
