"""Batch queries over topics: rows, positions, slices, loss."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import Row, make_topic, numbered, produce

Read = Callable[..., DataFrame]


@pytest.fixture
def read(spark: SparkSession, broker: BrokerProcess) -> Read:
    """Reads with these options."""

    def load(**options: str) -> DataFrame:
        reader = spark.read.format("snakka").option("bootstrap.servers", broker.bootstrap)
        return reader.options(**options).load()

    return load


def offsets(frame: DataFrame) -> list[int]:
    return [row.offset for row in frame.select("offset").orderBy("offset").collect()]


def test_each_record_is_a_row_with_all_of_its_fields(read: Read, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap, partitions=2)
    first = Row(b"k", b"v", 1, 1_700_000_000_123, [("a", b"1"), ("a", None), ("é", b"")])
    produce(broker.bootstrap, topic, [first, Row(None, None, 1, 5), Row(b"", b"", 0, 1)])

    frame = read(subscribe=topic)

    rows = frame.orderBy("partition", "offset").collect()
    assert [tuple(row)[:5] for row in rows] == [
        (b"", b"", topic, 0, 0),
        (b"k", b"v", topic, 1, 0),
        (None, None, topic, 1, 1),
    ]
    assert [list(map(tuple, row.headers)) for row in rows] == [
        [],
        [("a", b"1"), ("a", None), ("é", b"")],
        [],
    ]
    stamps = frame.orderBy("partition", "offset").select(sf.unix_millis("timestamp"))
    assert [row[0] for row in stamps.collect()] == [1, 1_700_000_000_123, 5]
    assert {row.timestampType for row in rows} == {0}


def test_headers_are_left_out_if_asked(read: Read, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, [Row(b"k", b"v", headers=[("a", b"b")])])
    frame = read(subscribe=topic, includeHeaders="false")
    assert "headers" not in frame.columns
    assert [row.value for row in frame.collect()] == [b"v"]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec(read: Read, broker: BrokerProcess, codec: str) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(500), **{"compression.type": codec})
    assert {row.value for row in read(subscribe=topic).select("value").collect()} == {
        b"value %d" % i for i in range(500)
    }


def test_subscriptions_by_name_pattern_and_partition(read: Read, broker: BrokerProcess) -> None:
    for name in ("sub-a", "sub-b"):
        make_topic(broker.bootstrap, 2, name)
        produce(broker.bootstrap, name, [Row(b"0", b"", 0), Row(b"1", b"", 1)])
    assert read(subscribe="sub-a, sub-b").count() == 4
    assert read(subscribePattern="sub-[b-z]").distinct().count() == 2
    assigned = read(assign='{"sub-a": [1], "sub-b": [0]}').orderBy("topic").collect()
    assert [(row.topic, row.partition) for row in assigned] == [("sub-a", 1), ("sub-b", 0)]


def test_positions_by_offset_and_by_timestamp(read: Read, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    rows = [Row(b"", b"", timestamp_ms=1000 + i) for i in range(10)]
    produce(broker.bootstrap, topic, rows)

    def at(offset: int) -> str:
        return f'{{"{topic}": {{"0": {offset}}}}}'

    assert offsets(read(subscribe=topic, startingOffsets=at(3), endingOffsets=at(5))) == [3, 4]
    assert offsets(read(subscribe=topic, startingOffsets=at(-2), endingOffsets=at(-1))) == [
        *range(10)
    ]
    assert offsets(read(subscribe=topic, startingTimestamp="1007")) == [7, 8, 9]
    assert offsets(read(subscribe=topic, endingTimestamp="1002")) == [0, 1]
    assert offsets(read(subscribe=topic, startingOffsetsByTimestamp=at(1009))) == [9]
    late = {"subscribe": topic, "startingTimestamp": "5000"}
    with pytest.raises(Exception, match="has no record as late as 5000"):
        read(**late).count()
    assert read(**late, startingOffsetsByTimestampStrategy="latest").count() == 0


def test_one_partition_feeds_many_tasks(read: Read, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(5000), **{"batch.num.messages": 100})
    frame = read(subscribe=topic, maxPartitionBytes="20k")
    assert frame.rdd.getNumPartitions() > 5
    assert offsets(frame) == list(range(5000))
    assert read(subscribe=topic, minPartitions="7").rdd.getNumPartitions() == 7
    assert read(subscribe=topic, maxRecordsPerPartition="1000").rdd.getNumPartitions() == 5


def test_conditions_read_less_where_that_is_asked_for(read: Read, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, [Row(timestamp_ms=1000 + i) for i in range(1000)])
    options = {"subscribe": topic, "maxRecordsPerPartition": "10", "pushFilters": "true"}

    some = read(**options).where("offset >= 500 AND offset < 520")
    assert (some.rdd.getNumPartitions(), offsets(some)) == (2, list(range(500, 520)))
    late = read(**options).where(sf.col("timestamp") >= datetime.fromtimestamp(1.97, UTC))
    assert (late.rdd.getNumPartitions(), offsets(late)) == (3, list(range(970, 1000)))
    none = read(**options).where(sf.col("partition") == 3)
    assert (none.rdd.getNumPartitions(), none.count()) == (1, 0)


def test_a_frame_that_is_filtered_is_whole_again_without_the_filter(
    read: Read, broker: BrokerProcess
) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(10))
    frame = read(subscribe=topic)
    assert frame.where("offset < 3").count() == 3
    assert frame.count() == 10


def test_deleted_offsets_are_named_or_passed_over(read: Read, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, numbered(10))
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for done in admin.delete_records([Place(topic, 0, 4)]).values():
        done.result()

    assert offsets(read(subscribe=topic)) == list(range(4, 10))
    early = {"subscribe": topic, "startingOffsets": f'{{"{topic}": {{"0": 1}}}}'}
    with pytest.raises(Exception, match=rf"offsets 1 to 3 of {topic}-0: gone .*log starts at 4"):
        read(**early).count()
    assert offsets(read(**early, failOnDataLoss="false")) == list(range(4, 10))
    beyond = {"subscribe": topic, "endingOffsets": f'{{"{topic}": {{"0": 12}}}}'}
    with pytest.raises(Exception, match=rf"offsets 10 to 11 of {topic}-0: gone .*log ends at 10"):
        read(**beyond).count()


def test_log_append_time_is_told(read: Read, broker: BrokerProcess) -> None:
    topic = make_topic(broker.bootstrap, message_timestamp_type="LogAppendTime")
    produce(broker.bootstrap, topic, [Row(b"", b"", timestamp_ms=5)])
    (row,) = read(subscribe=topic).collect()
    assert row.timestampType == 1
    assert row.timestamp.year > 2000


def test_a_wrong_option_is_told_by_load(read: Read) -> None:
    with pytest.raises(AnalysisException, match="no option subscribee; did you mean subscribe"):
        read(subscribee="t")


def test_a_topic_that_is_not_there(read: Read) -> None:
    with pytest.raises(Exception, match="UNKNOWN_TOPIC_OR_PARTITION"):
        read(subscribe="nowhere", **{"kafka.default.api.timeout.ms": "300"}).count()
