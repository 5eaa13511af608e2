"""Pipelines for the tests, and their topics."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from snakka.pipeline.declared.audit import PartitionAudit, audit
from snakka.pipeline.declared.declaration import Decoding, Pipeline, Source
from snakka.pipeline.declared.declaration_file import load_pipeline
from snakka.pipeline.declared.headers import header
from snakka.pipeline.declared.running import Runner, StepDone
from snakka.pipeline.tables.opening import table_for
from snakka.pipeline.tables.table import TableOptions
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import Row, make_topic

SCHEMA = "id BIGINT NOT NULL, name STRING"


def orders(count: int, start: int = 0, partition: int = 0, **more: Any) -> list[Row]:
    return [
        Row(str(i).encode(), json.dumps({"id": i, "name": f"n{i}", **more}).encode(), partition)
        for i in range(start, start + count)
    ]


def declare(
    broker: BrokerProcess, directory: Path, *, partitions: int = 1, **changes: Any
) -> Pipeline:
    """JSON from a new topic to a Delta table, with dead letters."""
    topic = make_topic(broker.bootstrap, partitions)
    pipeline = Pipeline(
        name=topic,
        options={"bootstrap.servers": broker.bootstrap},
        sources=(Source((topic,), Decoding("json", SCHEMA)),),
        target=TableOptions("delta", str(directory / "table")),
        dead_letter_topic=make_topic(broker.bootstrap),
        checkpoint=str(directory / "checkpoint"),
        directory=directory,
    )
    return replace(pipeline, **changes)


def run(spark: SparkSession, pipeline: Pipeline) -> list[StepDone]:
    """Reads all that is there."""
    steps: list[StepDone] = []
    Runner(spark, pipeline, steps.append).run()
    return steps


def audited(spark: SparkSession, file: Path) -> tuple[PartitionAudit, ...]:
    """What an audit of a declared pipeline counts; it finds nothing wrong."""
    found = audit(spark, load_pipeline(file), with_contents=True)
    assert found.findings == ()
    return found.partitions


def table(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    assert isinstance(pipeline.target, TableOptions)
    return table_for(pipeline.target).read(spark)


def ids(rows: DataFrame) -> list[int]:
    return sorted(row.id for row in rows.select("id").collect())


def records(spark: SparkSession, pipeline: Pipeline, topic: str | None) -> DataFrame:
    assert topic is not None
    reader = spark.read.format("snakka").option("bootstrap.servers", pipeline.bootstrap_servers)
    return reader.option("subscribe", topic).load()


def letters(spark: SparkSession, pipeline: Pipeline) -> list[tuple[str, int, bytes, str]]:
    """Topic, offset, value and reason of each dead letter."""
    found = records(spark, pipeline, pipeline.dead_letter_topic).select(
        header("topic"), header("offset").cast("int"), "value", header("reason")
    )
    return sorted((row[0], row[1], bytes(row[2]), row[3]) for row in found.collect())
