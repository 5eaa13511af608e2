"""The reader of a stream as Spark calls it: how far each micro-batch goes, and what it tells."""

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, NewPartitions

from snakka.pipeline.errors import DataLossError
from snakka.pipeline.options import read_source_options
from snakka.pipeline.source import SparkOffsets, StreamReader
from snakka.pipeline.spark_streaming import ReadAllAvailable, ReadMaxBytes, ReadMaxRows
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import (
    Row,
    make_topic,
    numbered,
    produce,
    produce_in,
    transactional_producer,
)

Open = Callable[..., StreamReader]


@pytest.fixture
def stream(broker: BrokerProcess) -> Open:
    """A reader with these options."""

    def open_reader(topic: str, **options: str) -> StreamReader:
        given = {"bootstrap.servers": broker.bootstrap, "subscribe": topic, **options}
        return StreamReader(read_source_options({"startingOffsets": "earliest", **given}))

    return open_reader


def rows(reader: StreamReader, start: SparkOffsets, end: SparkOffsets) -> list[int]:
    """The offsets of what the tasks of a micro-batch read."""
    return [
        offset
        for partition in reader.partitions(start, end)
        for batch in reader.read(partition)
        for offset in batch.column("offset").to_pylist()
    ]


def micro_batches(reader: StreamReader) -> list[int]:
    """The rows of each micro-batch, until nothing is left."""
    counts = []
    start = reader.initialOffset()
    while (end := reader.latestOffset(start, reader.getDefaultReadLimit())) != start:
        counts.append(len(rows(reader, start, end)))
        start = end
    return counts


def test_a_stream_starts_where_it_is_told(stream: Open, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, [Row(timestamp_ms=1000 + i) for i in range(10)])
    assert stream(topic).initialOffset() == {topic: {"0": 0}}
    assert stream(topic, startingOffsets="latest").initialOffset() == {topic: {"0": 10}}
    assert stream(topic, startingTimestamp="1004").initialOffset() == {topic: {"0": 4}}


def test_a_limit_in_rows_is_shared_by_what_each_partition_has(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap, 2)
    produce(broker.bootstrap, topic, numbered(300) + numbered(100, partition=1))
    reader = stream(topic, maxOffsetsPerTrigger="200")
    start = reader.initialOffset()
    assert reader.getDefaultReadLimit() == ReadMaxRows(200)
    middle = reader.latestOffset(start, ReadMaxRows(200))
    assert middle == {topic: {"0": 150, "1": 50}}
    assert reader.reportLatestOffset() == {topic: {"0": 300, "1": 100}}
    assert reader.latestOffset(middle, ReadAllAvailable()) == {topic: {"0": 300, "1": 100}}


def test_a_limit_in_rows_holds_whatever_the_records_weigh(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(100))
    produce(broker.bootstrap, topic, [Row(value=b"heavy" * 1000)])
    produce(broker.bootstrap, topic, numbered(9))
    assert stream(topic, maxOffsetsPerTrigger="4").latestOffset(
        {topic: {"0": 100}}, ReadMaxRows(4)
    ) == {topic: {"0": 104}}


def test_before_spark_4_2_a_limit_holds_from_the_second_micro_batch_on(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(10))
    reader = stream(topic, maxOffsetsPerTrigger="4")
    end = reader.latestOffset()
    assert end == {topic: {"0": 10}}
    assert rows(reader, reader.initialOffset(), end) == list(range(10))
    produce(broker.bootstrap, topic, numbered(10))
    assert reader.latestOffset() == {topic: {"0": 14}}


def test_markers_and_aborted_records_do_not_count_as_rows(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    producer = transactional_producer(broker.bootstrap, f"writer-of-{topic}")
    for i in range(6):
        producer.begin_transaction()
        produce_in(producer, topic, numbered(10))
        if i % 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
    assert micro_batches(stream(topic, maxOffsetsPerTrigger="15")) == [15, 15]
    assert sum(micro_batches(stream(topic, **{"isolation.level": "read_uncommitted"}))) == 60


def test_an_open_transaction_is_not_read(stream: Open, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(5))
    producer = transactional_producer(broker.bootstrap, f"writer-of-{topic}")
    producer.begin_transaction()
    produce_in(producer, topic, numbered(5))
    assert micro_batches(stream(topic)) == [5]
    producer.commit_transaction(30)
    assert micro_batches(stream(topic)) == [10]


def test_a_limit_in_bytes_is_held_by_what_the_batches_weigh(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    some = [Row(b"", bytes(1000)) for _ in range(100)]
    produce(broker.bootstrap, topic, some, **{"batch.num.messages": 10})
    reader = stream(topic, maxBytesPerTrigger="45k")
    assert reader.getDefaultReadLimit() == ReadMaxBytes(45 << 10)
    counts = micro_batches(reader)
    assert sum(counts) == 100
    assert max(counts) <= 45
    assert len(counts) <= 4


def test_available_now_ends_where_the_topic_ended_then(stream: Open, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(10))
    reader = stream(topic)
    reader.prepareForTriggerAvailableNow()
    produce(broker.bootstrap, topic, numbered(5))
    assert micro_batches(reader) == [10]


def test_a_partition_that_is_new_is_read_whole(stream: Open, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    reader = stream(topic, **{"kafka.metadata.max.age.ms": "1"})
    start = reader.initialOffset()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result()
    produce(broker.bootstrap, topic, numbered(3, partition=1))
    time.sleep(0.01)
    end = reader.latestOffset(start, ReadAllAvailable())
    assert end == {topic: {"0": 0, "1": 3}}
    assert rows(reader, start, end) == [0, 1, 2]


def test_a_group_shows_what_the_sink_has(stream: Open, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(10))
    stream(topic, groupIdPrefix="lag").commit({topic: {"0": 7}})
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"lag-{topic}"})
    (place,) = consumer.committed([Place(topic, 0)], timeout=30)
    consumer.close()
    assert place.offset == 7


def test_deleted_offsets_are_named_or_passed_over(stream: Open, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(20))
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for done in admin.delete_records([Place(topic, 0, 15)]).values():
        done.result()
    start, end = {topic: {"0": 10}}, {topic: {"0": 20}}
    with pytest.raises(DataLossError, match=rf"offsets 10 to 14 of {topic}-0: gone"):
        stream(topic).partitions(start, end)
    assert rows(stream(topic, failOnDataLoss="false"), start, end) == [15, 16, 17, 18, 19]


def test_offsets_deleted_after_they_were_planned_are_named_by_the_task(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(20))
    strict, lenient = stream(topic), stream(topic, failOnDataLoss="false")
    start, end = {topic: {"0": 0}}, {topic: {"0": 20}}
    (planned,) = strict.partitions(start, end)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for done in admin.delete_records([Place(topic, 0, 15)]).values():
        done.result()
    with pytest.raises(DataLossError, match=rf"offsets 0 to 14 of {topic}-0: gone"):
        list(strict.read(planned))
    found = [batch.column("offset").to_pylist() for batch in lenient.read(planned)]
    assert found == [[15, 16, 17, 18, 19]]


def test_a_partition_that_is_gone_is_named(stream: Open, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    start = {topic: {"0": 0, "1": 4}}
    with pytest.raises(DataLossError, match=rf"offsets from 4 of {topic}-1: gone"):
        stream(topic).latestOffset(start, ReadAllAvailable())
    lenient = stream(topic, failOnDataLoss="false")
    assert lenient.latestOffset(start, ReadAllAvailable()) == {topic: {"0": 0}}


def test_a_first_micro_batch_that_cannot_be_repeated_is_not_passed_over(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(9))
    reader = stream(topic, startingOffsets="latest")
    with pytest.raises(DataLossError, match=rf"offsets before 5 of {topic}-0: gone"):
        reader.partitions(reader.initialOffset(), {topic: {"0": 5}})


def test_a_least_number_of_rows_is_waited_for_but_not_for_ever(
    stream: Open, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(4))
    options = {"minOffsetsPerTrigger": "10", "maxTriggerDelay": "1h"}
    patient, hasty = (
        stream(topic, **options),
        stream(topic, **{**options, "maxTriggerDelay": "1ms"}),
    )
    start = patient.initialOffset()
    assert patient.latestOffset(start, ReadAllAvailable()) == start
    time.sleep(0.01)
    assert hasty.latestOffset(start, ReadAllAvailable()) == {topic: {"0": 4}}
    produce(broker.bootstrap, topic, numbered(6))
    assert patient.latestOffset(start, ReadAllAvailable()) == {topic: {"0": 10}}
