"""A pipeline whose driver, Python workers and broker are killed: each record is in the table once.

SPARK_KILLS sets how often something is killed, SPARK_RECORDS how many records there are,
SPARK_TABLES of which formats the tables are. Of the records every hundredth is malformed, and has
to be a dead letter once. After half of the kills the checkpoint is deleted, too.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import require
from tests.pipeline.declared.declaring import orders
from tests.pipeline.killing import TARGETS, Job, do_kill, wait_for_progress, wait_until_done
from tests.pipeline.topics import Row, make_topic, produce

KILLS = int(os.environ.get("SPARK_KILLS", "3"))
RECORDS = int(os.environ.get("SPARK_RECORDS", "30000"))
BATCHES = 2 * KILLS + 4
PARTITIONS = 3
MALFORMED_EVERY = 100
FORMATS = os.environ.get("SPARK_TABLES", "delta").split(",")
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

[table]
format = "{format}"
location = "table"
"""


def snakka(*words: str) -> list[str]:
    return [sys.executable, "-m", "snakka", "pipeline", *words]


@pytest.mark.parametrize("table_format", FORMATS)
def test_each_record_is_in_the_table_once_whatever_is_killed(
    tmp_path: Path, table_format: str
) -> None:
    require("java")
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    file = tmp_path / "killed.toml"
    with BrokerProcess(tmp_path / "broker") as broker:
        fill(broker)
        file.write_text(
            DECLARATION.format(
                bootstrap=broker.bootstrap,
                rows_per_batch=RECORDS // BATCHES,
                format=table_format,
            )
        )
        command = snakka("run", str(file), "--once", "--json", "--master", "local[2,4]")
        job = Job(command, tmp_path / "job.log", writes_lines=True)
        try:
            for kill in range(KILLS):
                wait_for_progress(job, rng)
                do_kill(TARGETS[kill % len(TARGETS)], job, broker, rng)
                if kill == KILLS // 2:
                    job.kill_driver()
                    shutil.rmtree(tmp_path / "checkpoint")
            wait_until_done(job)
        finally:
            job.close()
        print("starts", job.starts, "steps", job.finished)
        ran = subprocess.run(
            snakka("audit", str(file), "--contents", "--json", "--master", "local[2]"),
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    partitions = json.loads(ran.stdout)["partitions"]
    count = RECORDS // PARTITIONS
    rejected = count // MALFORMED_EVERY
    for each in partitions:
        assert (each["records"], each["rows"]) == (count, count - rejected)
        assert each["rejected"] == rejected


def fill(broker: BrokerProcess) -> None:
    make_topic(broker.bootstrap, PARTITIONS, "in")
    make_topic(broker.bootstrap, 1, "dead")
    count = RECORDS // PARTITIONS
    for partition in range(PARTITIONS):
        rows = orders(count, partition * count, partition)
        for index in range(MALFORMED_EVERY - 1, count, MALFORMED_EVERY):
            rows[index] = Row(value=b"{", partition=partition)
        produce(broker.bootstrap, "in", rows)
