"""Batch and streaming writes by Spark: what is written, once, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as sf

from snakka.pipeline.committing import SINK_PREFIX
from snakka.pipeline.staging import STAGING_PREFIX
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import make_topic, numbered, produce

Write = Callable[..., DataFrameWriter]
WAIT_S = 120


@pytest.fixture
def write(broker: BrokerProcess) -> Write:
    """A batch write with these options."""

    def writer(frame: DataFrame, **options: str) -> DataFrameWriter:
        given = frame.write.format("snakka").mode("append").options(**options)
        return given.option("bootstrap.servers", broker.bootstrap)

    return writer


def read(spark: SparkSession, broker: BrokerProcess, topic: str) -> DataFrame:
    reader = spark.read.format("snakka").option("bootstrap.servers", broker.bootstrap)
    return reader.option("subscribe", topic).load()


def test_columns_become_the_parts_of_a_record(
    spark: SparkSession, broker: BrokerProcess, write: Write
) -> None:
    topics = [make_topic(broker.bootstrap, 3) for _ in range(2)]
    frame = spark.sql(
        f"""
        SELECT 'k' AS key, X'00ff' AS value, '{topics[0]}' AS topic, 2 AS partition,
               array(named_struct('key', 'h', 'value', X'01')) AS headers, 1.5 AS ignored
        UNION ALL SELECT NULL, X'', '{topics[1]}', 0, NULL, 2.5
        """
    )
    write(frame, **{"compression.type": "zstd"}).save()

    found = [
        (row.key, row.value, row.topic, row.partition, [tuple(each) for each in row.headers])
        for topic in topics
        for row in read(spark, broker, topic).collect()
    ]
    assert found == [
        (b"k", b"\x00\xff", topics[0], 2, [("h", b"\x01")]),
        (None, b"", topics[1], 0, []),
    ]
    there = AdminClient({"bootstrap.servers": broker.bootstrap}).list_topics().topics
    assert not [each for each in there if each.startswith(f"{STAGING_PREFIX}batch-")]


def test_a_write_whose_task_fails_leaves_nothing(
    spark: SparkSession, broker: BrokerProcess, write: Write
) -> None:
    topic = make_topic(broker.bootstrap)
    frame = spark.range(0, 5000, 1, 2).select(
        sf.expr("CASE WHEN id < 4999 THEN repeat('x', 200) ELSE raise_error('boom') END AS value")
    )
    with pytest.raises(Exception, match="boom"):
        write(frame, topic=topic, **{"batch.size": "10k"}).save()
    assert read(spark, broker, topic).count() == 0


def test_a_version_of_an_application_is_written_once(
    spark: SparkSession, broker: BrokerProcess, write: Write
) -> None:
    topic = make_topic(broker.bootstrap, 2)
    application = {"topic": topic, "txnAppId": f"app-{topic}"}
    for version, rows in (("3", 5), ("3", 5), ("2", 7), ("4", 1)):
        frame = spark.range(rows).selectExpr("CAST(id AS STRING) AS value")
        write(frame, txnVersion=version, **application).save()
    assert read(spark, broker, topic).count() == 6


def test_a_repeated_micro_batch_is_not_written_again(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    source, sink = make_topic(broker.bootstrap), make_topic(broker.bootstrap, 2)
    checkpoint = tmp_path / "checkpoint"

    def run() -> str:
        frame = spark.readStream.format("snakka").option("bootstrap.servers", broker.bootstrap)
        frame = frame.option("subscribe", source).option("startingOffsets", "earliest")
        rows = frame.option("maxOffsetsPerTrigger", "20").load().select("key", "value")
        writer = rows.writeStream.format("snakka").option("topic", sink)
        writer = writer.option("bootstrap.servers", broker.bootstrap)
        writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        query = writer.start()
        assert query.awaitTermination(WAIT_S)
        return str(query.id)

    produce(broker.bootstrap, source, numbered(50))
    query_id = run()
    # As if the driver had died after the commit, before Spark noted it.
    for each in ("2", ".2.crc"):
        (checkpoint / "commits" / each).unlink()
    produce(broker.bootstrap, source, numbered(10, start=50))
    assert run() == query_id

    keys = [int(row.key) for row in read(spark, broker, sink).select("key").collect()]
    assert sorted(keys) == list(range(60))
    assert committed_version(broker, query_id) == 3


def committed_version(broker: BrokerProcess, query_id: str) -> int:
    """The batch id that the sink has noted, as any tool can see it."""
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": SINK_PREFIX + query_id}
    consumer = Consumer(settings)
    (place,) = consumer.committed([Place(STAGING_PREFIX + query_id, 0)], timeout=30)
    consumer.close()
    return int(place.offset)


def test_at_least_once_writes_without_staging(
    spark: SparkSession, broker: BrokerProcess, write: Write
) -> None:
    topic = make_topic(broker.bootstrap)
    frame = spark.range(0, 100, 1, 3).selectExpr("CAST(id AS STRING) AS value")
    write(frame, topic=topic, **{"delivery.guarantee": "at-least-once"}).save()
    found = read(spark, broker, topic).selectExpr("CAST(CAST(value AS STRING) AS INT) AS id")
    assert sorted(row.id for row in found.collect()) == list(range(100))


@pytest.mark.parametrize(
    ("mode", "options", "message"),
    [
        ("overwrite", {"topic": "t"}, "a topic cannot be overwritten"),
        ("append", {}, "column topic: is missing, and so is the option topic"),
        ("append", {"topc": "t"}, "there is no option topc; did you mean topic"),
        (
            "append",
            {"topic": "t", "txnVersion": "1"},
            "txnAppId goes with one of txnVersion and txnState",
        ),
        (
            "append",
            {"topic": "t", "delivery.guarantee": "exactly_onc"},
            "did you mean exactly-once",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(
    spark: SparkSession, write: Write, mode: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        write(spark.range(1).selectExpr("'v' AS value"), **options).mode(mode).save()
