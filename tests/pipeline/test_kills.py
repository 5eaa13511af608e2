"""A copying job whose driver, Python workers and broker are killed: each record is copied once.

SPARK_KILLS sets how often something is killed, SPARK_RECORDS how many records are copied.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

from confluent_kafka import Consumer, KafkaError

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import require
from tests.pipeline.killing import TARGETS, Job, do_kill, wait_for_progress, wait_until_done
from tests.pipeline.topics import make_topic, numbered, produce

KILLS = int(os.environ.get("SPARK_KILLS", "3"))
RECORDS = int(os.environ.get("SPARK_RECORDS", "30000"))
BATCHES = 2 * KILLS + 4
PARTITIONS = 3
JOB = Path(__file__).with_name("copy_job.py")


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
        checkpoint, rows_per_batch = str(tmp_path / "checkpoint"), str(RECORDS // BATCHES)
        command = [sys.executable, str(JOB), broker.bootstrap, "in", "out"]
        job = Job([*command, checkpoint, rows_per_batch], tmp_path / "job.log")
        try:
            for kill in range(KILLS):
                wait_for_progress(job, rng)
                do_kill(TARGETS[kill % len(TARGETS)], job, broker, rng)
            wait_until_done(job)
        finally:
            job.close()
        copied = keys_of(broker, "out")
    assert copied == Counter(range(RECORDS // PARTITIONS * PARTITIONS))


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
