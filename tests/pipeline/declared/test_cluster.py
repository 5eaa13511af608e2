"""The same pipeline on a cluster of Spark's own: a master and two workers."""

import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import audited, orders
from tests.pipeline.spark_cluster import SparkCluster
from tests.pipeline.topics import Row, make_topic, produce

PARTITIONS = 4
RECORDS = 4000  # of each partition
WORKERS = 2
DECLARATION = """
name = "spread"
checkpoint = "checkpoint"
dead_letter_topic = "dead"

[options]
bootstrap.servers = "{bootstrap}"
maxOffsetsPerTrigger = 8000

[[sources]]
topics = ["in"]
[sources.value]
format = "json"
schema = "id BIGINT NOT NULL, name STRING"

[table]
location = "table"
"""


def test_a_cluster_makes_the_same_table(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "spread.toml"
    with (
        BrokerProcess(tmp_path / "broker") as broker,
        SparkCluster(tmp_path, WORKERS) as cluster,
    ):
        make_topic(broker.bootstrap, PARTITIONS, "in")
        make_topic(broker.bootstrap, 1, "dead")
        for index in range(PARTITIONS):
            rows = orders(RECORDS - 1, index * RECORDS, index)
            produce(broker.bootstrap, "in", [*rows, Row(b"bad", b"{", index)])
        file.write_text(DECLARATION.format(bootstrap=broker.bootstrap))
        steps = snakka(cluster, "run", str(file), "--once", "--master", cluster.master)
        assert len(steps.splitlines()) >= 2
        told = [(each.row_count, each.rejected_count) for each in audited(spark, file)]
        executors = [list(cluster.work(each).glob("app-*/*/stderr")) for each in range(WORKERS)]
    assert told == [(RECORDS - 1, 1)] * PARTITIONS
    assert all(executors)


def snakka(cluster: SparkCluster, *words: str) -> str:
    """What a command of pipelines prints."""
    ran = subprocess.run(
        [sys.executable, "-m", "snakka", "pipeline", *words, "--json"],
        env=cluster.environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
