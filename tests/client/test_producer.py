"""A producer against a broker that misbehaves on cue."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from kafka import KafkaConsumer, TopicPartition

from snakka.client.batching import DeliveryTimedOutError
from snakka.client.cluster import Cluster
from snakka.client.errors import KafkaError
from snakka.client.producer import (
    BufferFullError,
    Producer,
    ProducerClosedError,
    ProducerSettings,
)
from snakka.client.transactions import TransactionStateError
from snakka.protocol.records.compression import Compression
from snakka.testing import ApiKey, Broker, ErrorCode
from tests.client.fake_node import QUICK, run

PLAIN = ProducerSettings()
SMALL = ProducerSettings(batch_size=300, linger_ms=1)


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker(settings={"num.partitions": "3"}) as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Iterator[Broker]:
    yield shared
    shared.faults.clear()


@asynccontextmanager
async def producing(broker: Broker, settings: ProducerSettings = PLAIN) -> AsyncIterator[Producer]:
    async with (
        Cluster(broker.bootstrap_servers, QUICK) as cluster,
        Producer(cluster, settings) as producer,
    ):
        yield producer


def read(broker: Broker, topic: str) -> dict[int, list[bytes]]:
    """The values of each partition, as kafka-python reads them."""
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest", group_id=None
    )
    values: dict[int, list[bytes]] = {}
    partitions = consumer.partitions_for_topic(topic) or ()
    consumer.assign([TopicPartition(topic, each) for each in partitions])
    ends = consumer.end_offsets(consumer.assignment())
    for partition, end in ends.items():
        while consumer.position(partition) < end:
            for part, records in consumer.poll(1000).items():
                values.setdefault(part.partition, []).extend(each.value for each in records)
    consumer.close()
    return values


def numbered(count: int) -> list[bytes]:
    return [b"value %04d" % index for index in range(count)]


@pytest.mark.parametrize("codec", Compression)
def test_another_client_reads_what_is_sent(broker: Broker, codec: Compression) -> None:
    topic = f"read-{codec.name}"

    async def scenario() -> None:
        settings = replace(PLAIN, compression_type=codec)
        async with producing(broker, settings) as producer:
            deliveries = [
                await producer.send(topic, value, key=b"key", headers=[("h", b"x"), ("n", None)])
                for value in numbered(500)
            ]
            written = [await each for each in deliveries]
            assert [each.offset for each in written] == list(range(500))
            assert len({each.partition for each in written}) == 1

    run(scenario())
    assert list(read(broker, topic).values()) == [numbered(500)]


def test_a_partition_and_a_time_can_be_chosen(broker: Broker) -> None:
    async def scenario() -> None:
        async with producing(broker) as producer:
            delivery = await producer.send("chosen", b"v", partition=2, timestamp_ms=1234)
            written = await delivery
            assert (written.partition, written.timestamp_ms) == (2, 1234)
            with pytest.raises(KafkaError, match="chosen has no partition 3"):
                await producer.send("chosen", b"v", partition=3)

    run(scenario())


@pytest.mark.parametrize("seed", range(2))
def test_lost_answers_and_refusals_change_nothing(broker: Broker, seed: int) -> None:
    """Nothing is lost, doubled or out of order, whatever each request meets."""
    topic = f"misbehaved-{seed}"
    values = numbered(300)

    async def scenario() -> None:
        async with producing(broker, SMALL) as producer:
            await (await producer.send(topic, values[0], partition=1))
            faults = broker.faults
            for _ in range(3):
                faults.drop_answer(ApiKey.PRODUCE)
                faults.answer(ApiKey.PRODUCE, ErrorCode.NOT_ENOUGH_REPLICAS, times=2)
                faults.drop(ApiKey.PRODUCE)
                faults.answer(ApiKey.PRODUCE, ErrorCode.NOT_LEADER_OR_FOLLOWER)
                faults.drop_answer(ApiKey.PRODUCE, times=1 + seed)
            deliveries = [await producer.send(topic, each, partition=1) for each in values[1:]]
            await producer.flush()
            for each in deliveries:
                assert (await each).partition == 1

    run(scenario())
    assert read(broker, topic) == {1: values}


def test_after_a_refused_batch_the_next_ones_are_written(broker: Broker) -> None:
    async def scenario() -> None:
        async with producing(broker, SMALL) as producer:
            await (await producer.send("refused", b"first", partition=0))
            broker.faults.answer(ApiKey.PRODUCE, ErrorCode.POLICY_VIOLATION)
            deliveries = [
                await producer.send("refused", b"%02d" % index + b"." * 250, partition=0)
                for index in range(8)
            ]
            await producer.flush()
            with pytest.raises(KafkaError) as raised:
                await deliveries[0]
            assert raised.value.code is ErrorCode.POLICY_VIOLATION
            assert [(await each).offset for each in deliveries[1:]] == list(range(1, 8))

    run(scenario())


def test_nobody_answering_is_told_after_the_time_for_delivery(broker: Broker) -> None:
    settings = replace(SMALL, delivery_timeout_ms=150)

    async def scenario() -> None:
        async with producing(broker, settings) as producer:
            await (await producer.send("undelivered", b"v", partition=0))
            broker.faults.answer(ApiKey.PRODUCE, ErrorCode.NOT_ENOUGH_REPLICAS, times=None)
            with pytest.raises(DeliveryTimedOutError, match="undelivered-0: not written within"):
                await (await producer.send("undelivered", b"v", partition=0))

    run(scenario())


def test_a_dead_leader_is_not_hammered(broker: Broker) -> None:  # pitfall 28
    """While no connection comes about, dials and requests for metadata stay few."""
    settings = replace(SMALL, delivery_timeout_ms=400)

    async def refused(*_: object, **__: object) -> object:
        dials.append(asyncio.get_running_loop().time())
        raise ConnectionRefusedError("nobody is there")

    dials: list[float] = []

    async def scenario() -> None:
        async with (
            Cluster(broker.bootstrap_servers) as cluster,
            Producer(cluster, settings) as producer,
        ):
            await (await producer.send("dying", b"v", partition=0))
            leader = cluster.find_connection(cluster.find_leader("dying", 0) or 0)
            assert leader is not None
            loop = asyncio.get_running_loop()
            loop.create_connection = refused  # type: ignore[method-assign, assignment]
            leader.close()
            with pytest.raises(DeliveryTimedOutError):
                await (await producer.send("dying", b"v", partition=0))

    run(scenario())
    assert 1 <= len(dials) <= 6


def test_memory_is_bounded(broker: Broker) -> None:
    settings = replace(SMALL, buffer_memory=2_000, max_block_ms=50)

    async def scenario() -> None:
        async with producing(broker, settings) as producer:
            await (await producer.send("bounded", b"v", partition=0))
            broker.faults.delay(ApiKey.PRODUCE, 0.3)
            sending = (producer.send("bounded", b"x" * 1000, partition=0) for _ in range(3))
            with pytest.raises(BufferFullError):
                await asyncio.gather(*sending)
            await producer.flush()
            await (await producer.send("bounded", b"v", partition=0))

    run(scenario())


def test_a_record_that_is_too_large_is_refused_at_once(broker: Broker) -> None:
    async def scenario() -> None:
        async with producing(broker) as producer:
            with pytest.raises(KafkaError) as raised:
                await producer.send("large", b"x" * 2_000_000)
            assert raised.value.code is ErrorCode.MESSAGE_TOO_LARGE

    run(scenario())


@pytest.mark.parametrize("acks", [0, 1])
def test_fewer_acks(broker: Broker, acks: int) -> None:
    settings = replace(PLAIN, acks=acks, enable_idempotence=False)

    async def scenario() -> None:
        topic = f"acks-{acks}"
        async with producing(broker) as producer:
            await (await producer.send(topic, b"first", partition=0))
        async with producing(broker, settings) as producer:
            delivery = await producer.send(topic, b"x" * 900_000, partition=0)
            assert (await delivery).offset == (-1 if acks == 0 else 1)

    run(scenario())
    assert read(broker, f"acks-{acks}") == {0: [b"first", b"x" * 900_000]}


def test_leaving_in_error_drops_what_was_not_written(broker: Broker) -> None:
    async def scenario() -> None:
        broker.faults.delay(ApiKey.PRODUCE, 0.2)
        with suppress(ZeroDivisionError):
            async with producing(broker) as producer:
                delivery = await producer.send("dropped", b"v")
                raise ZeroDivisionError
        with pytest.raises(ProducerClosedError):
            await delivery
        with pytest.raises(ProducerClosedError):
            await producer.send("dropped", b"v")

    run(scenario())


def test_a_caller_that_never_waits_does_not_keep_records_from_being_sent(broker: Broker) -> None:
    async def scenario() -> None:
        async with producing(broker, SMALL) as producer:
            await (await producer.send("eager", b"v", partition=0))
            first = await producer.send("eager", b"x" * 200, partition=0)
            for _ in range(1_000_000):
                if first.is_done:
                    break
                await producer.send("eager", b"x" * 200, partition=0)
            assert first.is_done

    run(scenario())


def test_without_a_transactional_id_there_are_no_transactions(broker: Broker) -> None:
    async def scenario() -> None:
        async with producing(broker) as producer:
            with pytest.raises(TransactionStateError, match="no transactional_id"):
                producer.begin_transaction()

    run(scenario())


@pytest.mark.parametrize(
    "wrong", [{"acks": 2}, {"acks": 1}, {"transactional_id": "x", "enable_idempotence": False}]
)
def test_settings_that_do_not_fit_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"acks|idempotent"):
        replace(PLAIN, **wrong)  # type: ignore[arg-type]
