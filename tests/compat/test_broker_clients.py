"""What librdkafka sees of a broker process through its stops, kills and administration."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

from tests.compat.broker_process import BrokerProcess


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


def test_a_group_goes_on_where_it_has_committed(broker: BrokerProcess) -> None:
    produced(broker, "resumed", [b"one", b"two"])
    assert len(consumed(broker, "resumed", 2, "resuming")) == 2
    produced(broker, "resumed", [b"three"])
    (message,) = consumed(broker, "resumed", 1, "resuming")
    assert message.value() == b"three"
    assert message.headers() == [("index", b"0"), ("null", None)]


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
