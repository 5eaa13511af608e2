"""Jobs of Spark, and what kills them: their driver, their Python workers, the broker."""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.compat.broker_process import BrokerProcess

PATIENCE_S = 300
TARGETS = ("worker", "broker", "driver")


class Job:
    """A job, started again whenever it has ended before all was done.

    For each micro-batch that it has finished it writes a character, or a line if it `writes_lines`.
    """

    def __init__(self, command: Sequence[str], log: Path, *, writes_lines: bool = False) -> None:
        self._command = command
        self._writes_lines = writes_lines
        self.log = log
        self._process: subprocess.Popen[bytes]
        self.finished = 0
        self.starts = 0
        self.start()

    def start(self) -> None:
        self.starts += 1
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=log)
        threading.Thread(target=self._count, args=(self._process,), daemon=True).start()

    def is_done(self) -> bool:
        """Starts it again if it has failed."""
        status = self._process.poll()
        if status is not None and status != 0:
            self.start()
        return status == 0

    def kill_driver(self) -> None:
        """The JVM with the Python that started it and all of its workers: a machine that dies."""
        for each in [self._process.pid, *descendants(self._process.pid)]:
            kill(each)
        self._process.wait()

    def kill_worker(self, rng: random.Random) -> None:
        """One of the Python processes that Spark has forked."""
        workers = [each for each in descendants(self._process.pid) if is_worker(each)]
        if workers:
            kill(rng.choice(workers))

    def close(self) -> None:
        if self._process.poll() is None:
            self.kill_driver()

    def _count(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        with process.stdout as output:
            while output.readline() if self._writes_lines else output.read(1):
                self.finished += 1


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # it was faster
        os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """All processes that a process has started, directly or not."""
    children: dict[int, list[int]] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        children.setdefault(int(fields[1]), []).append(int(each.parent.name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found[1:]


def is_worker(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        return b"pyspark" in command and b"pyspark" in Path(f"/proc/{parent}/cmdline").read_bytes()
    except OSError:
        return False


def wait_until_done(job: Job) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not job.is_done():
        assert time.monotonic() < deadline, job.log.read_text()[-3000:]
        time.sleep(0.2)


def wait_for_progress(job: Job, rng: random.Random) -> None:
    """Until a micro-batch or two were finished, and some time into the next one."""
    wanted = job.finished + rng.randint(1, 2)
    deadline = time.monotonic() + PATIENCE_S
    while job.finished < wanted and not job.is_done():
        assert time.monotonic() < deadline, job.log.read_text()[-3000:]
        time.sleep(0.01)
    time.sleep(rng.random())


def do_kill(target: str, job: Job, broker: BrokerProcess, rng: random.Random) -> None:
    if target == "driver":
        job.kill_driver()
    elif target == "worker":
        job.kill_worker(rng)
    else:
        broker.kill()
        broker.start()
