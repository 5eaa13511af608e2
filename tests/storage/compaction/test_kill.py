"""A process that appends and compacts is killed with SIGKILL at random moments.

What it acknowledged is there, as the last value of its key. SNAKKA_KILLS sets how often.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.opening import Checkpointed
from tests.storage.making import Harness, keyed

KILLS = int(os.environ.get("SNAKKA_KILLS", "30"))
KEYS = 50
APPENDS = 200  # between two passes
CONFIG = LogConfig(
    segment_bytes=4000, index_interval_bytes=500, is_compacted=True, is_deleted=False
)
ROOT = Path(__file__).parents[3]


def opened(directory: str) -> Harness:
    harness = Harness(LocalDisk(), CONFIG, directory)
    harness.open(Checkpointed())
    return harness


def append_and_compact_for_ever(directory: str) -> None:
    """The child: the value at every offset is the offset, and it says how far it is."""
    harness = opened(directory)
    rng = random.Random()
    while True:
        for _ in range(APPENDS):
            offset = harness.log.log_end_offset
            harness.append(keyed((b"%d" % rng.randrange(KEYS), b"%d" % offset)))
            os.write(1, b"%d\n" % harness.log.log_end_offset)
        os.write(1, b"%d\n" % harness.log.log_end_offset)
        harness.compact(0)


def test_acknowledged_records_survive_sigkill_while_compacting(tmp_path: Path) -> None:
    # pitfall 47
    directory = str(tmp_path / "t-0")
    rng = random.Random(7)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    known: dict[bytes | None, bytes | None] = {}
    interrupted = 0
    for _ in range(KILLS):
        command = [sys.executable, __file__, directory]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert child.stdout is not None
        # Somewhere between two passes, or in one that has just begun.
        count = rng.choice([rng.randrange(APPENDS), APPENDS]) + 1
        lines = [child.stdout.readline() for _ in range(count)]
        time.sleep(rng.random() * 0.01)
        child.kill()
        lines += child.stdout.readlines()
        child.wait()
        child.stdout.close()
        acknowledged = max([int(line) for line in lines if line.endswith(b"\n")], default=0)
        interrupted += any(n.endswith((".cleaned", ".swap")) for n in os.listdir(directory))
        harness = opened(directory)
        assert harness.opened.damages == ()
        assert harness.log.log_end_offset >= acknowledged
        content = harness.content()
        assert all(int(content[key] or 0) >= int(value or 0) for key, value in known.items())
        assert all(value == b"%d" % offset for offset, value in harness.values())
        harness.compact(0)
        assert harness.content() == content, "the last of every key was there"
        known = content
    print("interrupted", interrupted)
    assert interrupted or KILLS < 30, "no pass was interrupted"


if __name__ == "__main__":
    append_and_compact_for_ever(sys.argv[1])
