"""Streaming queries over topics, by Spark: from checkpoint to checkpoint, and while they run."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import make_topic, numbered, produce

WAIT_S = 60


class Query:
    """A query from a topic to Parquet; run again it goes on from its checkpoint."""

    def __init__(self, spark: SparkSession, bootstrap: str, directory: Path) -> None:
        self._spark = spark
        self._bootstrap = bootstrap
        self._directory = directory

    def start(self, options: dict[str, str], *, available_now: bool = False) -> StreamingQuery:
        reader = self._spark.readStream.format("snakka")
        frame = reader.option("bootstrap.servers", self._bootstrap).options(**options).load()
        writer = frame.writeStream.format("parquet").option("path", str(self._directory / "rows"))
        writer = writer.option("checkpointLocation", str(self._directory / "checkpoint"))
        if available_now:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime="50 milliseconds").start()

    def run(self, **options: str) -> list[int]:
        """Reads what is there; the rows of each micro-batch."""
        query = self.start(options, available_now=True)
        assert query.awaitTermination(WAIT_S)
        return [each.numInputRows for each in query.recentProgress if each.numInputRows]

    def rows(self) -> DataFrame:
        return self._spark.read.parquet(str(self._directory / "rows"))

    def offsets(self) -> list[int]:
        return sorted(row.offset for row in self.rows().select("offset").collect())


@pytest.fixture
def query(spark: SparkSession, broker: BrokerProcess, tmp_path: Path) -> Iterator[Query]:
    yield Query(spark, broker.bootstrap, tmp_path)
    for each in spark.streams.active:
        each.stop()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_available_now_reads_what_is_there_in_bounded_batches_and_goes_on_later(
    query: Query, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(250))
    options = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "100"}

    assert query.run(**options) == [100, 100, 50]
    produce(broker.bootstrap, topic, numbered(30, start=250))
    assert query.run(**options) == [30]
    assert query.offsets() == list(range(280))


def test_a_running_query_finds_new_partitions_and_shows_its_lag_as_a_group(
    query: Query, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    options = {
        "subscribe": topic,
        "startingOffsets": "earliest",
        "groupIdPrefix": "lag",
        "kafka.metadata.max.age.ms": "100",
    }
    running = query.start(options)
    produce(broker.bootstrap, topic, numbered(10))
    wait_for(lambda: _rows_read(running) == 10)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result()
    produce(broker.bootstrap, topic, numbered(7, partition=1))
    wait_for(lambda: _rows_read(running) == 17)
    produce(broker.bootstrap, topic, numbered(1, partition=1))
    wait_for(lambda: _rows_read(running) == 18)
    running.stop()

    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"lag-{topic}"})
    committed = consumer.committed([Place(topic, 0), Place(topic, 1)], timeout=10)
    consumer.close()
    # What the sink has committed, as Spark tells it: one micro-batch late.
    assert [each.offset for each in committed] == [10, 7]


def _rows_read(running: StreamingQuery) -> int:
    failure = running.exception()
    if failure is not None:
        raise failure
    return sum(each.numInputRows for each in running.recentProgress)
