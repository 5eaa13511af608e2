"""Incremental fetches of Kafka's own consumer, and librdkafka, over hundreds of partitions."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

PARTITIONS = 300
ROUNDS = 4


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as process:
        admin = AdminClient({"bootstrap.servers": process.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic("wide", PARTITIONS, 1)])["wide"].result(60)
        yield process


def produce(broker: BrokerProcess, round_: int) -> list[str]:
    """One record to every seventh partition, another seventh every round."""
    failures: list[KafkaError] = []

    def on_delivery(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    values = []
    for partition in range(round_, PARTITIONS, 7):
        values.append(f"round {round_}, partition {partition}")
        producer.produce("wide", values[-1], partition=partition, on_delivery=on_delivery)
    assert producer.flush(20) == 0
    assert failures == []
    return values


def test_kafkas_consumer_gets_what_changes(broker: BrokerProcess) -> None:
    with JavaProgram(JAVA_SOURCES / "Consumers.java") as java:
        settings = (f"bootstrap.servers={broker.bootstrap}", "group.id=wide-java")
        assert java.ask("\t".join(["open", "c", *settings])) == ""
        assert java.ask("topics\tc\twide") == ""
        for round_ in range(ROUNDS):
            wanted = produce(broker, round_)
            got: list[str] = []
            for _ in range(40):
                found = java.ask("poll\tc\t500")
                got += [each.partition("=")[2] for each in found.split("\t") if each]
                if len(got) >= len(wanted):
                    break
            assert sorted(got) == sorted(wanted)
        assert java.ask("close\tc") == ""


def test_librdkafka_gets_what_changes(broker: BrokerProcess) -> None:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "wide-librdkafka", "log_level": 0}
    )
    ends = [TopicPartition("wide", index) for index in range(PARTITIONS)]
    for each in ends:
        each.offset = consumer.get_watermark_offsets(each, 20)[1]
    consumer.assign(ends)
    for round_ in range(ROUNDS):
        wanted = produce(broker, round_)
        got: list[str] = []
        while len(got) < len(wanted):
            found = consumer.consume(len(wanted), timeout=20)
            assert found, f"{len(got)} of {len(wanted)}"
            got += [message.value().decode() for message in found]
        assert sorted(got) == sorted(wanted)
    consumer.close()


def test_a_client_without_a_session_is_served_as_well(tmp_path: Path) -> None:
    setting = "max.incremental.fetch.session.cache.slots=0"
    with BrokerProcess(tmp_path / "sessionless", setting) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic("wide", PARTITIONS, 1)])["wide"].result(60)
        test_kafkas_consumer_gets_what_changes(broker)
