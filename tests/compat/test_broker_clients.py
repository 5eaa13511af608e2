"""Clients that we did not write, against a broker process: librdkafka, kafka-python, aiokafka."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic
from kafka import KafkaConsumer, KafkaProducer

from tests.compat.broker_process import BrokerProcess

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
COUNT = 300


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as process:
        yield process


def quiet(**settings: Any) -> dict[str, Any]:
    """librdkafka's settings, without its log on standard error."""
    return {name.replace("_", "."): value for name, value in settings.items()} | {"log_level": 0}


def produced(broker: BrokerProcess, topic: str, values: list[bytes], **settings: Any) -> None:
    failures: list[KafkaError] = []

    def on_delivery(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    producer = Producer(quiet(bootstrap_servers=broker.bootstrap, **settings))
    for index, value in enumerate(values):
        headers = [("index", b"%d" % index), ("null", None)]
        producer.produce(topic, value, key=b"%d" % index, headers=headers, on_delivery=on_delivery)
        producer.poll(0)
    assert producer.flush(20) == 0
    assert failures == []


def consumed(broker: BrokerProcess, topic: str, count: int, group: str) -> list[Message]:
    consumer = Consumer(
        quiet(bootstrap_servers=broker.bootstrap, group_id=group, auto_offset_reset="earliest")
    )
    consumer.subscribe([topic])
    messages: list[Message] = []
    while len(messages) < count:
        found = consumer.consume(count, timeout=20)
        assert found, f"{len(messages)} of {count}"
        assert [each.error() for each in found] == [None] * len(found)
        messages += found
    consumer.commit(asynchronous=False)
    consumer.close()
    return messages


@pytest.mark.parametrize("codec", CODECS)
def test_librdkafka_produces_and_consumes(broker: BrokerProcess, codec: str) -> None:
    topic = f"librdkafka-{codec}"
    values = [b"value %d" % index for index in range(COUNT)]
    produced(broker, topic, values, compression_type=codec, enable_idempotence=True)
    messages = consumed(broker, topic, COUNT, f"group-{codec}")
    assert [message.value() for message in messages] == values
    assert [message.key() for message in messages] == [b"%d" % index for index in range(COUNT)]
    assert messages[7].headers() == [("index", b"7"), ("null", None)]
    assert [message.offset() for message in messages] == list(range(COUNT))


def test_a_large_message(broker: BrokerProcess) -> None:
    value = bytes(range(256)) * 3900
    produced(broker, "large", [value])
    (message,) = consumed(broker, "large", 1, "large-group")
    assert message.value() == value


def test_one_too_large_is_refused(broker: BrokerProcess) -> None:
    producer = Producer(quiet(bootstrap_servers=broker.bootstrap, message_max_bytes=5_000_000))
    failures: list[KafkaError] = []
    producer.produce("large", b"x" * 2_000_000, on_delivery=lambda error, _: failures.append(error))
    producer.flush(20)
    assert [error.code() for error in failures] == [KafkaError.MSG_SIZE_TOO_LARGE]


def test_a_group_goes_on_where_it_has_committed(broker: BrokerProcess) -> None:
    produced(broker, "resumed", [b"one", b"two"])
    assert len(consumed(broker, "resumed", 2, "resuming")) == 2
    produced(broker, "resumed", [b"three"])
    (message,) = consumed(broker, "resumed", 1, "resuming")
    assert message.value() == b"three"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_two_members_share_a_topic(broker: BrokerProcess, protocol: str) -> None:
    topic = f"shared-{protocol}"
    admin = AdminClient(quiet(bootstrap_servers=broker.bootstrap))
    admin.create_topics([NewTopic(topic, 4, 1)])[topic].result(20)
    produced(broker, topic, [b"value"])
    settings = quiet(
        bootstrap_servers=broker.bootstrap,
        group_id=f"sharing-{protocol}",
        group_protocol=protocol,
        auto_offset_reset="earliest",
    )
    members = [Consumer(settings) for _ in range(2)]
    for member in members:
        member.subscribe([topic])
    values = []
    for _ in range(200):
        found = [member.poll(0.1) for member in members]
        values += [message.value() for message in found if message is not None]
        if values and sorted(len(member.assignment()) for member in members) == [2, 2]:
            break
    assigned = [partition.partition for member in members for partition in member.assignment()]
    for member in members:
        member.close()
    assert sorted(assigned) == [0, 1, 2, 3]
    assert values == [b"value"]


def test_librdkafkas_admin(broker: BrokerProcess) -> None:
    admin = AdminClient(quiet(bootstrap_servers=broker.bootstrap))
    new = NewTopic("administered", 2, 1, config={"retention.ms": "1000"})
    admin.create_topics([new])["administered"].result(20)
    admin.create_partitions([NewPartitions("administered", 5)])["administered"].result(20)
    listed = admin.list_topics("administered", timeout=20).topics["administered"]
    assert len(listed.partitions) == 5
    resource = ConfigResource(ConfigResource.Type.TOPIC, "administered")
    (described,) = admin.describe_configs([resource]).values()
    configs = described.result(20)
    assert configs["retention.ms"].value == "1000"
    assert not configs["retention.ms"].is_default
    assert configs["segment.bytes"].value == str(1 << 30)
    assert configs["segment.bytes"].is_default  # pitfall 36
    admin.delete_topics(["administered"])["administered"].result(20)
    assert "administered" not in admin.list_topics(timeout=20).topics


def test_records_that_are_deleted_stay_deleted(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path / "deleted").start()
    produced(broker, "shortened", [b"a", b"b", b"c"])
    admin = AdminClient(quiet(bootstrap_servers=broker.bootstrap))
    (deleted,) = admin.delete_records([TopicPartition("shortened", 0, 2)]).values()
    assert deleted.result(20).low_watermark == 2
    broker.kill()  # pitfall 5
    broker.start()
    consumer = Consumer(quiet(bootstrap_servers=broker.bootstrap, group_id="watching"))
    assert consumer.get_watermark_offsets(TopicPartition("shortened", 0), 20) == (2, 3)
    consumer.close()
    broker.stop()


def test_watermarks_and_times(broker: BrokerProcess) -> None:
    produced(broker, "watermarks", [b"a", b"b", b"c"])
    consumer = Consumer(quiet(bootstrap_servers=broker.bootstrap, group_id="watching"))
    assert consumer.get_watermark_offsets(TopicPartition("watermarks", 0), 20) == (0, 3)
    (found,) = consumer.offsets_for_times([TopicPartition("watermarks", 0, 0)], 20)
    assert found.offset == 0
    consumer.close()


@pytest.mark.parametrize("codec", CODECS)
def test_kafka_python_produces_and_consumes(broker: BrokerProcess, codec: str) -> None:
    topic = f"kafka-python-{codec}"
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap, compression_type=None if codec == "none" else codec
    )
    sent = [
        producer.send(topic, b"value %d" % index, key=b"k", headers=[("h", b"x")])
        for index in range(COUNT)
    ]
    producer.flush()
    assert [each.get(20).offset for each in sent] == list(range(COUNT))
    producer.close()
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap,
        group_id=f"kafka-python-{codec}",
        auto_offset_reset="earliest",
        consumer_timeout_ms=20_000,
    )
    got = [next(consumer) for _ in range(COUNT)]
    consumer.commit()
    consumer.close()
    assert [each.value for each in got] == [b"value %d" % index for index in range(COUNT)]
    assert got[0].headers == [("h", b"x")]


def test_aiokafka_produces_and_consumes(broker: BrokerProcess) -> None:
    async def scenario() -> list[bytes]:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap, enable_idempotence=True)
        async with producer:
            for index in range(COUNT):
                await producer.send("aiokafka", b"value %d" % index)
        consumer = AIOKafkaConsumer(
            "aiokafka",
            bootstrap_servers=broker.bootstrap,
            group_id="aiokafka",
            auto_offset_reset="earliest",
        )
        values: list[bytes] = []
        async with consumer:
            while len(values) < COUNT:
                values.append((await asyncio.wait_for(consumer.getone(), 20)).value)
        return values

    assert asyncio.run(scenario()) == [b"value %d" % index for index in range(COUNT)]


def test_everything_is_there_after_a_restart_and_after_a_kill(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path / "restarted").start()
    values: list[bytes] = []
    for life, end in enumerate([broker.stop, broker.kill, broker.kill, broker.stop]):
        new = [b"life %d, value %d" % (life, index) for index in range(20)]
        produced(broker, "kept", new, acks="all", enable_idempotence=True)
        values += new
        end()
        broker.start()
        assert len(consumed(broker, "kept", 20, "keeper")) == 20
        messages = consumed(broker, "kept", len(values), f"reader-{life}")
        assert [message.value() for message in messages] == values
    broker.stop()
