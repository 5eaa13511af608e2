"""Rows a second from a topic, by our source and by Spark's own connector, in turns.

Of each the fastest round counts. `count` reads every column, since neither source leaves any out;
`parquet` writes key, value and offset. Topics hold records in batches of about 16 KiB.
"""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import wait
from pathlib import Path
from typing import Final

from snakka.client.records import TopicPartition
from snakka.pipeline.cluster_thread import ClusterThread
from snakka.pipeline.producing import produce
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from tests.compat.broker_process import BrokerProcess
from tests.compat.spark_connector import OLDEST_SERVED
from tests.pipeline.topics import make_topic

QUERIES: Final = Path(__file__).with_name("queries.py")
BATCH_BYTES: Final = 16_000
IN_FLIGHT: Final = 64
PARTITIONS: Final = 4


def measure(
    broker: BrokerProcess, thread: ClusterThread, sizes: Mapping[int, int], rounds: int
) -> None:
    """`sizes` tells how many records there are to be of how many bytes."""
    topics = {}
    for size, count in sizes.items():
        started_s = time.perf_counter()
        name = f"bytes-{size}"
        topics[name] = fill(broker, thread, name, count, size)
        print(f"{name}: {topics[name]} records, made in {time.perf_counter() - started_s:.1f} s")
    command = [sys.executable, str(QUERIES), broker.bootstrap, OLDEST_SERVED.jars(), str(rounds)]
    ran = subprocess.run(
        command,
        input=json.dumps(topics),
        env=OLDEST_SERVED.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    show(json.loads(ran.stdout.splitlines()[-1]))


def fill(
    broker: BrokerProcess, thread: ClusterThread, topic: str, count: int, size_bytes: int
) -> int:
    """The records in the topic: whole batches, the same one again and again."""
    make_topic(broker.bootstrap, PARTITIONS, topic)
    per_batch = max(1, BATCH_BYTES // size_bytes)
    now_ms = time.time_ns() // 1_000_000
    batch = build_batch(
        [Record(i, now_ms, b"%08d" % i, b"v" * (size_bytes - 8)) for i in range(per_batch)]
    )
    batches = count // per_batch
    for first in range(0, batches, IN_FLIGHT):
        sent = [
            thread.submit(produce(thread.cluster, TopicPartition(topic, i % PARTITIONS), batch))
            for i in range(first, min(batches, first + IN_FLIGHT))
        ]
        for each in wait(sent).done:
            each.result()
    return batches * per_batch


def show(results: list[list[object]]) -> None:
    print(f"{'topic':12} {'query':8} {'kafka, M rows/s':>16} {'snakka':>8} {'ratio':>6}")
    for topic, query, theirs, ours in results:
        assert isinstance(theirs, float)
        assert isinstance(ours, float)
        print(f"{topic:12} {query:8} {theirs / 1e6:16.2f} {ours / 1e6:8.2f} {ours / theirs:6.2f}")
