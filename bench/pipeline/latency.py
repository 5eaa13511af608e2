"""From a record to a table's row: how long it takes while a topic is fed at a steady rate.

Both sources write Parquet files through Spark's own sink, in one session; the declared pipeline
writes a Delta table, by the Spark that is installed. A record is in the table once the step that
holds it is: the age of the sink's log entry, or of Delta's, against the record's timestamp.
"""

import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Final, NamedTuple
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

from snakka.client.records import TopicPartition
from snakka.pipeline.cluster_thread import ClusterThread
from snakka.pipeline.producing import produce
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from tests.compat.broker_process import BrokerProcess
from tests.compat.spark_connector import OLDEST_SERVED
from tests.pipeline.topics import make_topic

STREAMS: Final = Path(__file__).with_name("streams.py")
RECORDS_PER_S: Final = 1_000
RECORD_BYTES: Final = 100
TURN_S: Final = 0.05
WARM_UP: Final = 0.5  # of a run: Java compiles, and the first step takes in what has been waiting
FORMATS: Final = ("kafka", "snakka")
PARTITIONS: Final = (1, 4, 16, 64)
DECLARATION: Final = """
name = "latency"
checkpoint = "checkpoint"

[options]
bootstrap.servers = "{bootstrap}"

[[sources]]
topics = ["{topic}"]
[sources.value]
format = "raw"

[table]
format = "delta"
location = "table"
"""


class Latency(NamedTuple):
    """Seconds."""

    p50: float
    p99: float
    step: float | None  # how long the median micro-batch took

    def __str__(self) -> str:
        return f"p50 {self.p50:.2f} s, p99 {self.p99:.2f} s" + (
            "" if self.step is None else f", a micro-batch {self.step:.2f} s"
        )


class Step(NamedTuple):
    """What one commit has added, and when it was there."""

    visible_s: float
    files: list[Path]


def measure(broker: BrokerProcess, thread: ClusterThread, directory: Path, seconds: int) -> None:
    command = [sys.executable, str(STREAMS), broker.bootstrap, OLDEST_SERVED.jars()]
    streams = subprocess.Popen(
        command,
        env=OLDEST_SERVED.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert streams.stdin is not None
    assert streams.stdout is not None
    warm_up = [(each, 4) for each in FORMATS]
    runs = [(each, partitions) for partitions in PARTITIONS for each in FORMATS]
    for turn, (name, partitions) in enumerate([*warm_up, *runs]):
        topic = make_topic(broker.bootstrap, partitions)
        where = directory / topic
        with feeding(thread, topic, partitions):
            told = {"format": name, "topic": topic, "directory": str(where), "seconds": seconds}
            streams.stdin.write(json.dumps(told) + "\n")
            streams.stdin.flush()
            durations_ms = json.loads(streams.stdout.readline())
        if turn >= len(warm_up):
            durations_ms = durations_ms[len(durations_ms) // 2 :]
            found = latency(sink_steps(where), "timestamp", median(durations_ms) / 1000)
            print(f"{partitions:3} partitions, {name:7} to files: {found}", flush=True)
    streams.stdin.close()
    streams.wait()
    print(f"  4 partitions, declared to Delta: {declared(broker, thread, directory, seconds)}")


def declared(
    broker: BrokerProcess, thread: ClusterThread, directory: Path, seconds: int
) -> Latency:
    topic = make_topic(broker.bootstrap, 4)
    file = directory / "latency.toml"
    file.write_text(DECLARATION.format(bootstrap=broker.bootstrap, topic=topic))
    command = [sys.executable, "-m", "snakka", "pipeline", "run", str(file), "--json"]
    with feeding(thread, topic, 4):
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert running.stdout is not None
        running.stdout.readline()  # the first step is done
        time.sleep(seconds)
        running.terminate()
        running.communicate()
    return latency(delta_steps(directory / "table"), "_timestamp", None)


@contextmanager
def feeding(thread: ClusterThread, topic: str, partitions: int) -> Iterator[None]:
    """A topic that is fed at a steady rate, a partition after the other."""
    is_over = threading.Event()

    def feed() -> None:
        sent, began_s = 0, time.monotonic()
        for partition in itertools.cycle(range(partitions)):
            if is_over.wait(TURN_S):
                break
            due = int((time.monotonic() - began_s) * RECORDS_PER_S) - sent
            sent += due
            now_ms = time.time_ns() // 1_000_000
            batch = build_batch([Record(i, now_ms, None, bytes(RECORD_BYTES)) for i in range(due)])
            thread.run(produce(thread.cluster, TopicPartition(topic, partition), batch))

    feeder = threading.Thread(target=feed)
    feeder.start()
    yield
    is_over.set()
    feeder.join()


def latency(steps: Iterator[Step], column: str, step_s: float | None) -> Latency:
    """Of the records after the warm-up."""
    ages_s: list[tuple[float, float]] = []
    for step in steps:
        for file in step.files:
            times = pq.read_table(file, columns=[column])[column].to_pylist()
            ages_s += ((each.timestamp(), step.visible_s - each.timestamp()) for each in times)
    ages_s.sort()
    warm = [age_s for _, age_s in ages_s[int(len(ages_s) * WARM_UP) :]]
    percentiles = quantiles(warm, n=100)
    return Latency(percentiles[49], percentiles[98], step_s)


def sink_steps(directory: Path) -> Iterator[Step]:
    """Of Spark's file sink; each tenth entry of its log repeats the ones before."""
    entries = [each for each in (directory / "_spark_metadata").iterdir() if each.stem.isdigit()]
    seen: set[str] = set()
    for entry in sorted(entries, key=lambda each: int(each.stem)):
        paths = {json.loads(line)["path"] for line in entry.read_text().splitlines()[1:]}
        files = [Path(unquote(urlparse(each).path)) for each in paths - seen]
        seen |= paths
        yield Step(entry.stat().st_mtime, files)


def delta_steps(table: Path) -> Iterator[Step]:
    for entry in sorted((table / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in entry.read_text().splitlines()]
        files = [table / unquote(each["add"]["path"]) for each in actions if "add" in each]
        yield Step(entry.stat().st_mtime, files)
