"""Transactions as clients that we did not write make them, in both versions of the protocol."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

# What does not depend on the version is shown in one.
version_2 = pytest.mark.parametrize("broker", [2], ids=["version-2"], indirect=True)
CLUSTER = "ZZZZZZZZQZGZZZZZZZZZZg"
TIMEOUT_S = 20


@pytest.fixture(scope="module", params=[1, 2], ids=["version-1", "version-2"])
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerProcess]:
    """A cluster whose transaction.version is 1 or 2: Java's clients go by what it is."""
    directory = tmp_path_factory.mktemp("broker")
    command = [sys.executable, "-m", "snakka", "format", "-t", CLUSTER, "--standalone"]
    feature = [
        "--data",
        str(directory / "data"),
        "--feature",
        f"transaction.version={request.param}",
    ]
    subprocess.run([*command, *feature], check=True, capture_output=True)
    with BrokerProcess(directory) as process:
        yield process


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(JAVA_SOURCES / "Transactions.java") as program:
        yield program


def play(java: JavaProgram, *lines: str) -> None:
    for line in lines:
        assert java.ask(line) == "ok", line


def settings(broker: BrokerProcess, **more: Any) -> dict[str, Any]:
    return {"bootstrap.servers": broker.bootstrap, "log_level": 0} | {
        name.replace("_", "."): value for name, value in more.items()
    }


def producer_of(broker: BrokerProcess, transactional_id: str, **more: Any) -> Producer:
    producer = Producer(settings(broker, transactional_id=transactional_id, **more))
    producer.init_transactions(TIMEOUT_S)
    return producer


def read(broker: BrokerProcess, topic: str, isolation: str = "read_committed") -> list[bytes]:
    """The first partition from its start to its end."""
    consumer = Consumer(
        settings(broker, group_id="reader", isolation_level=isolation, enable_partition_eof=True)
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes] = []
    while True:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF
            consumer.close()
            return values
        values.append(message.value())


def test_java_commits_aborts_and_fences(broker: BrokerProcess, java: JavaProgram) -> None:
    at = broker.bootstrap
    play(
        java,
        *(f"open a {at} java 60000", "init a"),
        *("begin a", "send a java 0 one", "send a java 0 two", "commit a"),
        *("begin a", "send a java 0 never", "abort a"),
        *("begin a", "abort a", "begin a", "commit a"),
        *("begin a", "send a java 0 three", "commit a"),
    )
    assert java.ask(f"read {at} java 0 read_committed") == "one two three"
    assert java.ask(f"read {at} java 0 read_uncommitted") == "one two never three"

    play(java, "begin a", "send a java 0 fenced", f"open b {at} java 60000", "init b")
    # The first knows by now that it is no more; what it wrote is aborted.
    assert java.ask("commit a") in ("ProducerFencedException", "InvalidProducerEpochException")
    play(java, "begin b", "send b java 0 four", "commit b")
    assert java.ask(f"read {at} java 0 read_committed") == "one two three four"
    play(java, "close a", "close b")


@pytest.mark.parametrize(("offset", "end", "kept"), [(3, "commit", 3), (5, "abort", 3)])
def test_java_offsets_go_with_the_transaction(
    broker: BrokerProcess, java: JavaProgram, offset: int, end: str, kept: int
) -> None:
    play(java, f"open c {broker.bootstrap} java-offsets 60000", "init c", "begin c")
    play(java, "send c copied 0 x", f"offset c java-group copied 0 {offset}", f"{end} c", "close c")
    assert committed(broker, "java-group", "copied") == kept


def committed(broker: BrokerProcess, group: str, topic: str) -> int:
    consumer = Consumer(settings(broker, group_id=group))
    (found,) = consumer.committed([TopicPartition(topic, 0)], TIMEOUT_S)
    consumer.close()
    return int(found.offset)


def test_a_transaction_past_its_time_out_is_aborted(
    broker: BrokerProcess, java: JavaProgram
) -> None:
    at = broker.bootstrap
    play(java, f"open d {at} java-slow 300", "init d", "begin d", "send d slow 0 never")
    other = producer_of(broker, "other")
    other.begin_transaction()
    other.produce("slow", b"after")
    other.commit_transaction(TIMEOUT_S)
    # The one that hangs holds up all readers, until it is aborted.
    assert read_until(broker, "slow", 1) == [b"after"]
    assert java.ask("commit d") != "ok"
    play(java, "close d")


def read_until(broker: BrokerProcess, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(settings(broker, group_id="until", isolation_level="read_committed"))
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = consumer.consume(count, TIMEOUT_S)
    consumer.close()
    return [each.value() for each in found]


def test_librdkafka_copies_between_topics(broker: BrokerProcess) -> None:
    source = Producer(settings(broker))
    for number in range(20):
        source.produce("in", b"%d" % number)
    source.flush(TIMEOUT_S)
    consumer = Consumer(
        settings(broker, group_id="copier", auto_offset_reset="earliest", enable_auto_commit=False)
    )
    consumer.subscribe(["in"])
    producer = producer_of(broker, "copier")
    copied = 0
    while copied < 20:
        messages = consumer.consume(5, 1.0)
        if not messages:
            continue
        producer.begin_transaction()
        for message in messages:
            producer.produce("out", b"copy of " + message.value())
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(
            positions, consumer.consumer_group_metadata(), TIMEOUT_S
        )
        producer.commit_transaction(TIMEOUT_S)
        copied += len(messages)
    consumer.close()
    assert read(broker, "out") == [b"copy of %d" % number for number in range(20)]
    assert committed(broker, "copier", "in") == 20


def test_librdkafka_aborts_and_is_fenced(broker: BrokerProcess) -> None:
    first = producer_of(broker, "fenced")
    first.begin_transaction()
    first.produce("fencing", b"never")
    first.flush(TIMEOUT_S)
    first.abort_transaction(TIMEOUT_S)
    first.begin_transaction()
    first.produce("fencing", b"neither")
    first.flush(TIMEOUT_S)

    second = producer_of(broker, "fenced")
    with pytest.raises(KafkaException) as refused:
        first.commit_transaction(TIMEOUT_S)
    assert refused.value.args[0].fatal()
    second.begin_transaction()
    second.produce("fencing", b"kept")
    second.commit_transaction(TIMEOUT_S)
    assert read(broker, "fencing") == [b"kept"]
    assert read(broker, "fencing", "read_uncommitted") == [b"never", b"neither", b"kept"]


@version_2
def test_a_member_of_an_older_generation_commits_nothing(broker: BrokerProcess) -> None:
    """KIP-447: the group's generation fences, also where each member has an id of its own."""
    source = Producer(settings(broker))
    source.produce("generations", b"x")
    source.flush(TIMEOUT_S)
    configured = settings(
        broker, group_id="generations", auto_offset_reset="earliest", session_timeout_ms=6000
    )
    first = Consumer(configured)
    first.subscribe(["generations"])
    assert first.poll(TIMEOUT_S) is not None
    stale = first.consumer_group_metadata()
    first.close()
    second = Consumer(configured)
    source.produce("generations", b"y")
    source.flush(TIMEOUT_S)
    second.subscribe(["generations"])
    assert second.poll(TIMEOUT_S) is not None

    producer = producer_of(broker, "generations")
    producer.begin_transaction()
    with pytest.raises(KafkaException):
        producer.send_offsets_to_transaction(
            [TopicPartition("generations", 0, 1)], stale, TIMEOUT_S
        )
    producer.abort_transaction(TIMEOUT_S)
    second.close()


@version_2
def test_aiokafka_commits_and_aborts(broker: BrokerProcess) -> None:
    async def scenario() -> list[bytes]:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap, transactional_id="aiokafka")
        async with producer:
            async with producer.transaction():
                await producer.send_and_wait("aiokafka", b"one")
                offsets = {AioPartition("aiokafka", 0): 1}
                await producer.send_offsets_to_transaction(offsets, "aiokafka-group")
            await producer.begin_transaction()
            await producer.send_and_wait("aiokafka", b"never")
            await producer.abort_transaction()
            async with producer.transaction():
                await producer.send_and_wait("aiokafka", b"two")
        consumer = AIOKafkaConsumer(
            "aiokafka",
            bootstrap_servers=broker.bootstrap,
            group_id=None,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        async with consumer:
            found = [await asyncio.wait_for(consumer.getone(), TIMEOUT_S) for _ in range(2)]
        return [each.value for each in found]

    assert asyncio.run(scenario()) == [b"one", b"two"]
    assert committed(broker, "aiokafka-group", "aiokafka") == 1
