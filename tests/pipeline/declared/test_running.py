"""Pipelines at work: what reaches the table, once, and what stops them."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from snakka.pipeline.declared.declaration import Decoding, Source
from snakka.pipeline.declared.running import Runner
from snakka.pipeline.errors import RejectedRecordError, SchemaError
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import (
    SCHEMA,
    declare,
    ids,
    letters,
    orders,
    run,
    table,
)
from tests.pipeline.topics import Row, produce

# Its function of strings runs in the tasks, which have to find the module.
SHOUTING = """
from pyspark.sql.functions import udf
from pyspark.sql.types import StringType

@udf(StringType())
def louder(text):
    return as_loud_as_can_be(text)

def as_loud_as_can_be(text):
    return text.upper()

def shout(rows):
    return rows.where("id % 2 = 0").withColumn("name", louder("name"))
"""


def test_rows_are_transformed_and_checked_and_keep_their_coordinates(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    (tmp_path / "shouting.py").write_text(SHOUTING)
    pipeline = declare(
        broker,
        tmp_path,
        function="shouting:shout",
        checks={"small": "id < 8"},
    )
    (topic,) = pipeline.topics
    produce(broker.bootstrap, topic, orders(10))
    (step,) = run(spark, pipeline)
    assert (step.row_count, step.rejected_count, step.lag) == (4, 1, 0)
    rows = table(spark, pipeline).orderBy("id").collect()
    assert [(row.id, row.name, row._topic, row._partition, row._offset) for row in rows] == [
        (i, f"N{i}", topic, 0, i) for i in (0, 2, 4, 6)
    ]
    assert letters(spark, pipeline) == [
        (topic, 8, b'{"id": 8, "name": "n8"}', "check small: is not true")
    ]


@pytest.mark.parametrize("loss", ["lost", "old", "foreign", "one commit behind"])
def test_the_table_tells_where_to_go_on_whatever_the_checkpoint_says(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path, loss: str
) -> None:
    pipeline = declare(
        broker,
        tmp_path,
        options={"bootstrap.servers": broker.bootstrap, "maxOffsetsPerTrigger": "8"},
    )
    (topic,) = pipeline.topics
    checkpoint = tmp_path / "checkpoint"
    produce(broker.bootstrap, topic, [*orders(9), Row(value=b"bad")])
    run(spark, pipeline)
    if loss == "lost":
        shutil.rmtree(checkpoint)
    elif loss == "old":
        shutil.copytree(checkpoint, tmp_path / "old")
        produce(broker.bootstrap, topic, orders(5, 9))
        run(spark, pipeline)
        shutil.rmtree(checkpoint)
        shutil.move(tmp_path / "old", checkpoint)
    elif loss == "foreign":
        other = declare(broker, tmp_path / "other")
        produce(broker.bootstrap, other.topics[0], orders(3))
        run(spark, other)
        shutil.rmtree(checkpoint)
        shutil.copytree(tmp_path / "other" / "checkpoint", checkpoint)
    else:  # as if killed between the table's commit and the checkpoint's
        last = max(int(each.name) for each in (checkpoint / "commits").glob("[0-9]*"))
        (checkpoint / "commits" / str(last)).unlink()
        (checkpoint / "commits" / f".{last}.crc").unlink()
    produce(broker.bootstrap, topic, [*orders(4, 20), Row(value=b"bad too")])
    runner = Runner(spark, pipeline)
    runner.run()
    expected = [*range(9), *(range(9, 14) if loss == "old" else ()), *range(20, 24)]
    assert ids(table(spark, pipeline)) == expected
    assert [value for _, _, value, _ in letters(spark, pipeline)] == [b"bad", b"bad too"]
    is_aside = loss in ("old", "foreign")
    assert len(list(tmp_path.glob("checkpoint.aside-*"))) == is_aside
    assert len(runner.notes) == is_aside


def test_a_pipeline_without_a_dead_letter_topic_stops_at_the_first_bad_record(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    pipeline = declare(broker, tmp_path, dead_letter_topic=None)
    (topic,) = pipeline.topics
    produce(broker.bootstrap, topic, [*orders(3), Row(value=b"{"), *orders(3, 3), Row(value=b"}")])
    with pytest.raises(RejectedRecordError, match=f"offset 3 of {topic}-0: value: it is not"):
        run(spark, pipeline)


def test_a_column_is_added_and_one_that_does_not_fit_stops_the_pipeline(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    pipeline = declare(broker, tmp_path)
    (topic,) = pipeline.topics
    produce(broker.bootstrap, topic, orders(2))
    run(spark, pipeline)
    produce(broker.bootstrap, topic, orders(2, 2, size=5))

    def with_schema(ddl: str) -> tuple[Source, ...]:
        return (Source((topic,), Decoding("json", ddl)),)

    run(spark, replace(pipeline, sources=with_schema(f"{SCHEMA}, size INT")))
    rows = table(spark, pipeline).orderBy("id").select("id", "size").collect()
    assert [tuple(row) for row in rows] == [(0, None), (1, None), (2, 5), (3, 5)]

    produce(broker.bootstrap, topic, orders(2, 4))
    changed = replace(pipeline, sources=with_schema("id STRING, name STRING, size INT"))
    with pytest.raises(SchemaError, match="id"):
        run(spark, changed)
    run(spark, pipeline)
    assert ids(table(spark, pipeline)) == list(range(6))
