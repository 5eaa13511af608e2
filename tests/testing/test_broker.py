"""The broker for tests, its faults and its time, as librdkafka sees them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from snakka.app.ground import StartError
from snakka.client.errors import KafkaError
from snakka.config.problems import ConfigurationError
from snakka.testing import ApiKey, Broker, ErrorCode

WAIT_S = 20


@pytest.fixture(scope="module")
def hosted() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def broker(hosted: Broker) -> Iterator[Broker]:
    yield hosted
    hosted.faults.clear()


def produce(broker: Broker, topic: str, *values: str, **settings: Any) -> list[int]:
    """The offsets, or the errors, with which the records were acknowledged."""
    outcomes: list[int] = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0, **settings})
    for value in values:
        producer.produce(
            topic,
            value.encode(),
            on_delivery=lambda error, record: outcomes.append(
                error.code() if error else record.offset()
            ),
        )
    assert producer.flush(WAIT_S) == 0
    return outcomes


def consume(broker: Broker, topic: str, count: int) -> list[str]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": f"readers-of-{topic}",
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    consumer.subscribe([topic])
    try:
        records = consumer.consume(count, timeout=WAIT_S)
        return [each.value().decode() for each in records]
    finally:
        consumer.close()


def test_what_was_written_can_be_read_after_a_restart(broker: Broker) -> None:
    address = broker.bootstrap_servers
    assert produce(broker, "kept", "a", "b") == [0, 1]
    broker.restart()
    assert broker.bootstrap_servers == address
    assert consume(broker, "kept", 2) == ["a", "b"]


def test_a_topic_is_read_as_records_and_as_a_table(broker: Broker) -> None:
    broker.create_topic("read", partitions=2, configs={"retention.ms": "-1"})
    assert broker.read("read") == []
    assert produce(broker, "read", *map(str, range(50))) != []
    records = broker.read("read")
    assert sorted(int(each.value or b"") for each in records) == list(range(50))
    table = broker.read_table("read")
    assert table["value"].to_pylist() == [each.value for each in records]
    assert table["partition"].to_pylist() == [each.partition for each in records]
    with pytest.raises(KafkaError, match="read"):
        broker.create_topic("read")


def test_data_in_memory_is_gone_afterwards_and_data_in_a_directory_stays(tmp_path: Path) -> None:
    with Broker() as broker:
        assert produce(broker, "t", "a") == [0]
        directory = broker.directory
    assert not directory.exists()
    with Broker(directory=tmp_path) as broker:
        assert produce(broker, "t", "a") == [0]
    with Broker(directory=tmp_path) as broker:
        assert consume(broker, "t", 1) == ["a"]


def test_it_can_be_entered_by_a_coroutine() -> None:
    async def scenario() -> list[int]:
        async with Broker() as broker:
            return await asyncio.to_thread(produce, broker, "t", "a")

    assert asyncio.run(scenario()) == [0]


def test_a_wrong_setting_is_told_where_the_broker_is_started() -> None:
    broker = Broker(settings={"log.retention.hour": "1"})
    with pytest.raises(ConfigurationError, match=r"log\.retention\.hours"):
        broker.start()
    assert not broker.directory.exists()


def test_a_directory_in_use_is_told_where_the_broker_is_started(tmp_path: Path) -> None:
    with Broker(directory=tmp_path), pytest.raises(StartError, match="in use"):
        Broker(directory=tmp_path).start()


def test_an_error_is_answered_as_often_as_the_script_says(broker: Broker) -> None:
    broker.faults.answer(ApiKey.PRODUCE, ErrorCode.TOPIC_AUTHORIZATION_FAILED, times=2)
    forbidden = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    topic = "forbidden-twice"
    outcomes = [produce(broker, topic, "x")[0] for _ in range(3)]
    assert outcomes == [forbidden, forbidden, 0]


def test_a_lost_answer_makes_no_duplicate_of_an_idempotent_producer(broker: Broker) -> None:
    broker.faults.drop_answer(ApiKey.PRODUCE, times=2)
    settings = {"enable.idempotence": True, "batch.num.messages": 1}
    assert produce(broker, "once", "a", "b", "c", **settings) == [0, 1, 2]
    assert consume(broker, "once", 3) == ["a", "b", "c"]


def test_a_dropped_request_is_sent_again(broker: Broker) -> None:
    broker.faults.drop(ApiKey.PRODUCE, times=2)
    assert produce(broker, "again", "a") == [0]


def test_a_delay_is_longer_than_a_client_waits(broker: Broker) -> None:
    broker.faults.delay(ApiKey.METADATA, 2.0, times=None)
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "log_level": 0}
    )
    with pytest.raises(KafkaException):
        consumer.list_topics(timeout=0.3)
    broker.faults.clear()
    assert consumer.list_topics(timeout=WAIT_S).brokers
    consumer.close()


def test_a_produce_without_acks_that_fails_ends_the_connection(broker: Broker) -> None:
    lost: list[str] = []
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "acks": 0,
            "message.max.bytes": 3_000_000,
            "error_cb": lambda error: lost.append(error.name()),
            "log_level": 0,
        }
    )
    producer.produce("silent", b"x" * 2_000_000)
    producer.flush(WAIT_S)
    for _ in range(WAIT_S):
        if "_TRANSPORT" in lost or "_ALL_BROKERS_DOWN" in lost:
            return
        producer.poll(1)
    raise AssertionError(lost)


def test_time_moves_on_for_the_broker_alone() -> None:
    settings = {"log.retention.check.interval.ms": "60000", "log.segment.bytes": "1048576"}
    with Broker(settings={**settings, "log.retention.ms": "3600000"}) as broker:
        big = ["x" * 900_000, "y" * 900_000, "z"]
        for value in big:
            produce(broker, "aging", value)
        broker.advance(2 * 3600)
        produce(broker, "aging", "new")
        broker.advance(120)
        for _ in range(WAIT_S * 10):
            if _first_offset(broker, "aging") >= 2:
                return
            broker.advance(60)
    raise AssertionError("nothing was deleted though hours passed")


def _first_offset(broker: Broker, topic: str) -> int:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "log_level": 0}
    )
    try:
        first, _ = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=WAIT_S)
        return int(first)
    finally:
        consumer.close()
