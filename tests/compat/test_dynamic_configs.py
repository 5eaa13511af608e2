"""What is set while a broker runs holds at once, and after a restart (KIP-226)."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from tests.compat.broker_process import BrokerProcess

MIB = 1 << 20


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path / "broker", "log.cleaner.backoff.ms=3600000") as process:
        yield process


def alter(
    broker: BrokerProcess, kind: ResourceType, name: str, key: str, value: str | None
) -> None:
    operation = AlterConfigOpType.SET if value is not None else AlterConfigOpType.DELETE
    entry = ConfigEntry(key, value, incremental_operation=operation)
    resource = ConfigResource(kind, name, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    (altered,) = admin.incremental_alter_configs([resource]).values()
    altered.result(20)


def produce(broker: BrokerProcess, topic: str, value: bytes, key: bytes = b"k") -> int:
    """The error code of producing one record."""
    codes: list[int] = []

    def on_delivery(error: KafkaError | None, _: object) -> None:
        codes.append(0 if error is None else error.code())

    producer = Producer(
        {"bootstrap.servers": broker.bootstrap, "log_level": 0, "message.max.bytes": 4 * MIB}
    )
    producer.produce(topic, value, key=key, on_delivery=on_delivery)
    assert producer.flush(20) == 0
    return codes[0]


def create(broker: BrokerProcess, topic: str, **configs: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    named = {key.replace("_", "."): value for key, value in configs.items()}
    admin.create_topics([NewTopic(topic, 1, 1, config=named)])[topic].result(20)


def test_limits_of_brokers_and_topics_hold_at_once_and_after_a_restart(
    broker: BrokerProcess,
) -> None:
    create(broker, "t")
    create(broker, "own", max_message_bytes="2000")
    large = b"x" * 5000
    assert produce(broker, "t", large) == 0
    assert produce(broker, "own", large) == KafkaError.MSG_SIZE_TOO_LARGE
    alter(broker, ResourceType.BROKER, "1", "message.max.bytes", "3000")
    assert produce(broker, "t", large) == KafkaError.MSG_SIZE_TOO_LARGE
    assert produce(broker, "own", b"x" * 2500) == KafkaError.MSG_SIZE_TOO_LARGE
    alter(broker, ResourceType.BROKER, "1", "message.max.bytes", None)
    assert produce(broker, "t", large) == 0
    alter(broker, ResourceType.BROKER, "1", "message.max.bytes", "3000")
    alter(broker, ResourceType.TOPIC, "own", "max.message.bytes", "8000")
    broker.stop()
    broker.start()
    assert produce(broker, "t", large) == KafkaError.MSG_SIZE_TOO_LARGE
    assert produce(broker, "own", large) == 0
    assert produce(broker, "own", b"x" * 9000) == KafkaError.MSG_SIZE_TOO_LARGE


def test_compaction_by_a_cleaner_that_is_set_to_work(broker: BrokerProcess) -> None:
    create(broker, "c", cleanup_policy="compact", segment_bytes=str(MIB), segment_ms="50")
    for value in (b"1", b"2", b"3"):
        assert produce(broker, "c", value) == 0
    alter(broker, ResourceType.BROKER, "1", "log.cleaner.backoff.ms", "50")
    alter(broker, ResourceType.TOPIC, "c", "min.cleanable.dirty.ratio", "0.01")
    deadline = time.monotonic() + 120
    while not _cleaned_offset(broker):
        assert produce(broker, "c", b"later") == 0
        assert time.monotonic() < deadline


def _cleaned_offset(broker: BrokerProcess) -> int:
    """How far the log of the topic has been compacted, by the broker's own note."""
    note = broker.log.parent / "data" / "cleaner-offset-checkpoint"
    lines = note.read_text().split("\n") if note.exists() else []
    return sum(int(each.split()[2]) for each in lines if each.startswith("c 0 "))


def test_fewer_connections(broker: BrokerProcess) -> None:
    host, _, port = broker.bootstrap.rpartition(":")
    with socket.create_connection((host, int(port))) as held:
        alter(broker, ResourceType.BROKER, "1", "max.connections.per.ip", "1")
        with socket.create_connection((host, int(port)), timeout=20) as late:
            assert late.recv(1) == b""
        held.setblocking(False)
        with pytest.raises(BlockingIOError):
            held.recv(1)  # who is in stays in
