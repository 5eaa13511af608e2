"""A copying job whose driver, Python workers and broker are killed: each record is copied once.

SPARK_KILLS sets how often something is killed, SPARK_RECORDS how many records are copied.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from confluent_kafka import Consumer, KafkaError

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import require
from tests.pipeline.topics import make_topic, numbered, produce

KILLS = int(os.environ.get("SPARK_KILLS", "3"))
RECORDS = int(os.environ.get("SPARK_RECORDS", "30000"))
BATCHES = 2 * KILLS + 4
PARTITIONS = 3
PATIENCE_S = 300
TARGETS = ("worker", "broker", "driver")
JOB = Path(__file__).with_name("copy_job.py")


class Job:
    """The copying job, started again whenever it has ended before all was copied."""

    def __init__(self, broker: BrokerProcess, checkpoint: Path, log: Path) -> None:
        rows_per_batch = str(RECORDS // BATCHES)
        self._command = [
            *(sys.executable, str(JOB), broker.bootstrap, "in", "out"),
            *(str(checkpoint), rows_per_batch),
        ]
        self.log = log
        self._process: subprocess.Popen[bytes]
        self.dots = 0
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
        with process.stdout as dots:
            while dots.read(1):
                self.dots += 1


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


def test_each_record_is_copied_once_whatever_is_killed(tmp_path: Path) -> None:
    require("java")
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    with BrokerProcess(tmp_path / "broker") as broker:
        make_topic(broker.bootstrap, PARTITIONS, "in")
        make_topic(broker.bootstrap, PARTITIONS, "out")
        for partition in range(PARTITIONS):
            count = RECORDS // PARTITIONS
            produce(broker.bootstrap, "in", numbered(count, partition, partition * count))
        job = Job(broker, tmp_path / "checkpoint", tmp_path / "job.log")
        try:
            for kill in range(KILLS):
                wait_for_progress(job, rng)
                do_kill(TARGETS[kill % len(TARGETS)], job, broker, rng)
            deadline = time.monotonic() + PATIENCE_S
            while not job.is_done():
                assert time.monotonic() < deadline, (tmp_path / "job.log").read_text()[-3000:]
                time.sleep(0.2)
        finally:
            job.close()
        copied = keys_of(broker, "out")
    assert copied == Counter(range(RECORDS // PARTITIONS * PARTITIONS))


def wait_for_progress(job: Job, rng: random.Random) -> None:
    """Until a micro-batch or two were finished, and some time into the next one."""
    wanted = job.dots + rng.randint(1, 2)
    deadline = time.monotonic() + PATIENCE_S
    while job.dots < wanted and not job.is_done():
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


def keys_of(broker: BrokerProcess, topic: str) -> Counter[int]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "audit",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    keys: Counter[int] = Counter()
    ended: set[int | None] = set()
    while len(ended) < PARTITIONS:
        for message in consumer.consume(10_000, 1):
            error = message.error()
            if error is None:
                key = message.key()
                assert key is not None
                keys[int(key)] += 1
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
    consumer.close()
    return keys
