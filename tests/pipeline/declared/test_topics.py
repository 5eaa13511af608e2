"""Topics to topics: transformed, and mirrored to another cluster with the groups that read them."""

import json
import shutil
from pathlib import Path

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Place
from pyspark.sql import SparkSession

from snakka.pipeline.declared.audit import audit
from snakka.pipeline.declared.declaration import MirrorOptions, Pipeline, Source, TopicOptions
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.declared.declaring import declare, orders, records, run
from tests.pipeline.topics import Row, make_topic, produce, produce_in, transactional_producer


def commit(bootstrap: str, group: str, place: Place) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    consumer.commit(offsets=[place], asynchronous=False)
    consumer.close()


def read_on(bootstrap: str, group: str, place: Place) -> tuple[bytes | None, int]:
    """The key of what a group reads next, and its timestamp."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    (committed,) = consumer.committed([place], timeout=30)
    consumer.assign([committed])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None
    assert message.error() is None
    return message.key(), message.timestamp()[1]


def test_a_topic_becomes_another_once_although_its_checkpoint_is_lost(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    out = make_topic(broker.bootstrap, 2)
    pipeline = declare(
        broker,
        tmp_path,
        sql="SELECT *, upper(name) AS loud FROM source WHERE id <> 1",
        target=TopicOptions(out),
    )
    (topic,) = pipeline.topics
    produce(broker.bootstrap, topic, [*orders(4), Row(value=b"bad")])
    run(spark, pipeline)
    shutil.rmtree(tmp_path / "checkpoint")
    produce(broker.bootstrap, topic, orders(2, 4))
    (step,) = run(spark, pipeline)
    assert step.row_count == 2

    found = [json.loads(row.value) for row in records(spark, pipeline, out).collect()]
    found.sort(key=lambda each: int(each["id"]))
    assert found[0] == {"id": 0, "name": "n0", "loud": "N0"}
    assert [each["id"] for each in found] == [0, 2, 3, 4, 5]
    assert audit(spark, pipeline).findings == ()


def test_a_mirror_has_each_record_in_its_place_and_groups_go_on_there(
    spark: SparkSession, broker: BrokerProcess, tmp_path: Path
) -> None:
    topic, group = make_topic(broker.bootstrap, 2), "billing"
    producer = transactional_producer(broker.bootstrap, topic)
    for index in range(5):  # markers between the records: offsets differ on the mirror
        producer.begin_transaction()
        rows = [Row(b"%d" % (10 * index + i), b"v", 1, 1_700_000_000_000 + i) for i in range(3)]
        produce_in(producer, topic, rows)
        producer.commit_transaction()
    produce(broker.bootstrap, topic, [Row(b"other", None, 0, headers=[("h", b"1")])])
    commit(broker.bootstrap, group, Place(topic, 1, 9))  # the second record of the third

    with BrokerProcess(tmp_path / "mirror") as mirror:
        target = MirrorOptions({"bootstrap.servers": mirror.bootstrap}, (group,))
        options = {"bootstrap.servers": broker.bootstrap, "maxOffsetsPerTrigger": "8"}
        pipeline = Pipeline("copy", options, (Source((topic,)),), target)
        run(spark, pipeline)
        assert read_on(mirror.bootstrap, group, Place(topic, 1)) == (b"21", 1_700_000_000_001)

        produce(broker.bootstrap, topic, [Row(b"last", b"v", 1)])
        commit(broker.bootstrap, group, Place(topic, 1, 20))  # before the last record
        run(spark, pipeline)
        assert read_on(mirror.bootstrap, group, Place(topic, 1))[0] == b"last"

        reader = spark.read.format("snakka").option("bootstrap.servers", mirror.bootstrap)
        copies = reader.option("subscribe", topic).load().orderBy("partition", "offset").collect()
        keys = [b"%d" % (10 * index + i) for index in range(5) for i in range(3)]
        assert [(row.partition, bytes(row.key)) for row in copies] == [
            (0, b"other"),
            *((1, key) for key in [*keys, b"last"]),
        ]
        (first, *_) = copies
        assert first.value is None
        assert [(each.key, bytes(each.value)) for each in first.headers] == [
            ("h", b"1"),
            ("snakka.topic", topic.encode()),
            ("snakka.partition", b"0"),
            ("snakka.offset", b"0"),
        ]
        assert audit(spark, pipeline).findings == ()
