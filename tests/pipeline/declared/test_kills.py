"""A pipeline whose driver, Python workers and broker are killed: each record is in the table once.

SPARK_KILLS sets how often something is killed, SPARK_RECORDS how many records there are,
SPARK_TARGETS what the pipelines make of them: delta, iceberg, parquet, topic. Of the records every
hundredth is malformed, and has to be a dead letter once. When half of the kills are over, the next
one of the driver takes the checkpoint with it.
"""

import os
import random
import shutil
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import audited, orders
from tests.pipeline.killing import TARGETS, Job, do_kill, wait_for_progress, wait_until_done
from tests.pipeline.topics import Row, make_topic, produce

KILLS = int(os.environ.get("SPARK_KILLS", "3"))
RECORDS = int(os.environ.get("SPARK_RECORDS", "30000"))
BATCHES = 2 * KILLS + 4
PARTITIONS = 3
MALFORMED_EVERY = 100
INTO = os.environ.get("SPARK_TARGETS", "delta").split(",")
DECLARATION = """
name = "killed"
checkpoint = "checkpoint"
dead_letter_topic = "dead"

[options]
bootstrap.servers = "{bootstrap}"
maxOffsetsPerTrigger = {rows_per_batch}

[[sources]]
topics = ["in"]
[sources.value]
format = "json"
schema = "id BIGINT NOT NULL, name STRING"

{target}
"""
TABLE = """
[table]
format = "{}"
location = "table"
"""
TOPIC = """
[topic]
name = "out"
"""


@pytest.mark.parametrize("into", INTO)
def test_each_record_is_there_once_whatever_is_killed(
    spark: SparkSession, tmp_path: Path, into: str
) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    file, checkpoint = tmp_path / "killed.toml", tmp_path / "checkpoint"
    with BrokerProcess(tmp_path / "broker") as broker:
        fill(broker)
        file.write_text(
            DECLARATION.format(
                bootstrap=broker.bootstrap,
                rows_per_batch=RECORDS // BATCHES,
                target=TOPIC if into == "topic" else TABLE.format(into),
            )
        )
        command = [sys.executable, "-m", "snakka", "pipeline", "run", str(file), "--once", "--json"]
        job = Job([*command, "--master", "local[2,4]"], tmp_path / "job.log", writes_lines=True)
        has_checkpoint = True
        try:
            for kill in range(KILLS):
                wait_for_progress(job, rng)
                target = TARGETS[kill % len(TARGETS)]
                do_kill(target, job, broker, rng)
                if target == "driver" and has_checkpoint and kill >= KILLS // 2:
                    shutil.rmtree(checkpoint)
                    has_checkpoint = False
            wait_until_done(job)
        finally:
            job.close()
        print("starts", job.starts, "steps", job.finished)
        partitions = audited(spark, file)
    assert not has_checkpoint
    count = RECORDS // PARTITIONS
    rejected = count // MALFORMED_EVERY
    for each in partitions:
        assert (each.record_count, each.row_count) == (count, count - rejected)
        assert each.rejected_count == rejected


def fill(broker: BrokerProcess) -> None:
    make_topic(broker.bootstrap, PARTITIONS, "in")
    make_topic(broker.bootstrap, 1, "dead")
    make_topic(broker.bootstrap, PARTITIONS, "out")
    count = RECORDS // PARTITIONS
    for partition in range(PARTITIONS):
        rows = orders(count, partition * count, partition)
        for index in range(MALFORMED_EVERY - 1, count, MALFORMED_EVERY):
            rows[index] = Row(value=b"{", partition=partition)
        produce(broker.bootstrap, "in", rows)
