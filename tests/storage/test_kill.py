"""A process that appends and compacts is killed with SIGKILL at random moments.

What it has acknowledged is there afterwards. SNAKKA_KILLS sets how often.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from snakka.protocol.records.batch import Batch, batches
from snakka.storage.config import LogConfig
from snakka.storage.log import Log
from tests.storage.killed_child import APPENDING, COMPACTING, KEYS, opened

KILLS = int(os.environ.get("SNAKKA_KILLS", "200"))
LIVES = 20  # of one log: a longer one would take long to check
ROOT = Path(__file__).parents[2]
MEMORY = Path("/dev/shm")  # survives a SIGKILL as well as a disk does, and costs less


class Told(NamedTuple):
    """What a child said last."""

    end_offset: int = 0
    recovery_point: int = 0


class Victims:
    """Children in a row, each killed."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.storage.killed_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=ROOT,
        )
        self._rng = random.Random(7)

    def live_and_die(self, task: str, directory: Path, before: Told) -> Told:
        """One child, from its start to a moment of its opening or of its work."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{task} {directory} {before.recovery_point}\n".encode())
        self._process.stdin.flush()
        pid, told = 0, before
        sees_it_work = self._rng.random() < 0.8
        while not pid or (sees_it_work and told is before):
            word, number = self._read()
            pid, told = (number, told) if word == b"pid" else (pid, Told(int(word), number))
        time.sleep(self._rng.random() * 0.02)
        os.kill(pid, signal.SIGKILL)
        while True:
            word, number = self._read()
            if word == b"dead":
                assert number == signal.SIGKILL, "it died of something else"
                return told
            told = Told(int(word), number)

    def _read(self) -> tuple[bytes, int]:
        assert self._process.stdout is not None
        word, number = self._process.stdout.readline().split()
        return word, int(number)

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def victims() -> Iterator[Victims]:
    victims = Victims()
    yield victims
    victims.close()


def check_appended(log: Log) -> None:
    found = [batch.header.base_sequence for batch in all_batches(log)]
    assert found == list(range(log.log_end_offset))
    if found:
        (producer,) = log.producers.entries
        assert producer.last_sequence == log.log_end_offset - 1


def check_compacted(log: Log) -> None:
    records = [record for batch in all_batches(log) for record in batch.records()]
    assert all(record.value == b"%d" % record.offset for record in records)
    content = {record.key: record.offset for record in records}
    end = log.log_end_offset
    assert content == {b"%d" % (offset % KEYS): offset for offset in range(max(0, end - KEYS), end)}


def all_batches(log: Log) -> Iterator[Batch]:
    return batches(log.read(0, max_bytes=1 << 30, max_offset=log.log_end_offset).copy())


@pytest.mark.parametrize(
    ("task", "config", "check"),
    [("append", APPENDING, check_appended), ("compact", COMPACTING, check_compacted)],
)
def test_acknowledged_records_survive_sigkill(
    victims: Victims, task: str, config: LogConfig, check: Callable[[Log], None]
) -> None:
    # pitfall 47
    rolled = 0
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as root:
        directory, told = Path(root) / "t-0", Told()
        for kill in range(KILLS // 2):
            if kill % LIVES == 0:
                shutil.rmtree(directory, ignore_errors=True)
                told = Told()
            told = victims.live_and_die(task, directory, told)
            found = opened(str(directory), told.recovery_point, config)
            assert found.log.log_end_offset >= told.end_offset
            check(found.log)
            rolled += len(found.log.segments) > 1
    assert rolled > KILLS // 4, "children that do nothing prove nothing"
