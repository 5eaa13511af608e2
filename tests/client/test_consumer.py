"""A consumer against a broker that misbehaves on cue; what it reads was written by kafka-python."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from kafka import KafkaProducer

from snakka.client.cluster import Cluster
from snakka.client.consumer import Consumer
from snakka.client.consumer_settings import ConsumerSettings, OffsetReset
from snakka.client.errors import KafkaError
from snakka.client.list_offsets import list_offsets
from snakka.client.offsets import CommittedOffset
from snakka.client.records import ConsumedRecord, TopicPartition
from snakka.client.resetting import NoPositionError
from snakka.protocol.records.arrow import to_record_batch
from snakka.testing import ApiKey, Broker, ErrorCode
from tests.client.fake_node import QUICK, run

FROM_START = ConsumerSettings(auto_offset_reset=OffsetReset.EARLIEST, fetch_max_wait_ms=50)
PARTITIONS = 3


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    settings = {
        "num.partitions": str(PARTITIONS),
        "group.consumer.heartbeat.interval.ms": "100",
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.session.timeout.ms": "45000",
    }
    with Broker(settings=settings) as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Iterator[Broker]:
    yield shared
    shared.faults.clear()


def written(broker: Broker, topic: str, count: int, **settings: object) -> list[bytes]:
    """Records in partition 0, by a client that is not ours; their times are their numbers."""
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, **settings)
    values = [b"value %04d" % index for index in range(count)]
    for index, value in enumerate(values):
        headers = [("index", b"%d" % index)]
        producer.send(
            topic, value, key=b"k", headers=headers, partition=0, timestamp_ms=1000 + index
        )
    producer.flush()
    producer.close()
    return values


@asynccontextmanager
async def consuming(
    broker: Broker, settings: ConsumerSettings = FROM_START
) -> AsyncIterator[Consumer]:
    async with (
        Cluster(broker.bootstrap_servers, QUICK) as cluster,
        Consumer(cluster, settings) as consumer,
    ):
        yield consumer


def group(name: str, **settings: object) -> ConsumerSettings:
    return replace(FROM_START, group_id=name, **settings)  # type: ignore[arg-type]


async def take(consumer: Consumer, count: int) -> list[ConsumedRecord]:
    taken: list[ConsumedRecord] = []
    if count:
        async for record in consumer:
            taken.append(record)
            if len(taken) == count:
                break
    return taken


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_what_another_client_wrote_is_read(broker: Broker, codec: str | None) -> None:
    topic = f"read-{codec}"
    values = written(broker, topic, 300, compression_type=codec)

    async def scenario() -> None:
        async with consuming(broker) as consumer:
            consumer.assign([TopicPartition(topic, 0)])
            records = await take(consumer, 300)
            assert [each.value for each in records] == values
            assert [each.offset for each in records] == list(range(300))
            assert (records[7].key, records[7].timestamp_ms) == (b"k", 1007)
            assert records[7].headers == (("index", b"7"),)
            assert consumer.high_watermark(TopicPartition(topic, 0)) == 300

    run(scenario())


def test_columns_are_the_same_records(broker: Broker) -> None:
    values = written(broker, "columns", 300, batch_size=1000)
    partition = TopicPartition("columns", 0)

    async def scenario() -> None:
        async with consuming(broker) as consumer:
            consumer.assign([partition])
            await take(consumer, 100)
            read: list[bytes] = []
            while len(read) < 200:
                for fetched in await consumer.poll(1000):
                    for columns in fetched.columns():
                        read += to_record_batch(columns).column("value").to_pylist()
            assert read == values[100:]
            assert consumer.position(partition) == 300
            assert await consumer.poll(20) == []

    run(scenario())


def test_an_iteration_that_was_left_goes_on(broker: Broker) -> None:
    values = written(broker, "left", 30)

    async def scenario() -> None:
        async with consuming(broker) as consumer:
            consumer.assign([TopicPartition("left", 0)])
            read = [each.value for _ in range(3) for each in await take(consumer, 10)]
            assert read == values

    run(scenario())


def test_a_seek_passes_over_what_was_fetched(broker: Broker) -> None:
    values = written(broker, "seeking", 300)
    partition = TopicPartition("seeking", 0)

    async def scenario() -> None:
        async with consuming(broker) as consumer:
            consumer.assign([partition])
            await take(consumer, 10)
            for offset in (250, 0, 123):
                consumer.seek(partition, offset)
                assert [each.value for each in await take(consumer, 5)] == (
                    values[offset : offset + 5]
                )

    run(scenario())


def test_offsets_by_time_and_at_the_ends(broker: Broker) -> None:
    written(broker, "times", 50)
    partition = TopicPartition("times", 0)

    async def scenario() -> None:
        async with Cluster(broker.bootstrap_servers, QUICK) as cluster:
            for time_ms, offset in ((-2, 0), (-1, 50), (1020, 20), (0, 0), (9999, -1)):
                found = await list_offsets(cluster, {partition: time_ms})
                assert found[partition].offset == offset
            with pytest.raises(KafkaError):
                await list_offsets(cluster, {partition: -99})

    run(scenario())


def test_a_position_that_is_no_more_is_set_to_the_end_that_was_named(broker: Broker) -> None:
    values = written(broker, "outside", 20)
    partition = TopicPartition("outside", 0)

    async def scenario() -> None:
        async with consuming(broker) as consumer:
            consumer.assign([partition])
            consumer.seek(partition, 1000)
            assert [each.value for each in await take(consumer, 20)] == values
        strict = replace(FROM_START, auto_offset_reset=OffsetReset.NONE)
        async with consuming(broker, strict) as consumer:
            consumer.assign([partition])
            with pytest.raises(NoPositionError, match="outside-0"):
                await take(consumer, 1)

    run(scenario())


def test_errors_of_a_fetch_pass(broker: Broker) -> None:
    values = written(broker, "passing", 300, batch_size=500)
    faults = broker.faults
    faults.drop(ApiKey.FETCH)
    faults.answer(ApiKey.FETCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    faults.drop_answer(ApiKey.FETCH)
    faults.answer(ApiKey.FETCH, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    faults.answer(ApiKey.FETCH, ErrorCode.UNKNOWN_TOPIC_ID)

    async def scenario() -> None:
        settings = replace(FROM_START, max_partition_fetch_bytes=2000)
        async with consuming(broker, settings) as consumer:
            consumer.assign([TopicPartition("passing", 0)])
            assert [each.value for each in await take(consumer, 300)] == values

    run(scenario())


def test_an_error_that_will_not_pass_is_raised(broker: Broker) -> None:
    written(broker, "forbidden", 1)

    async def scenario() -> None:
        broker.faults.answer(ApiKey.FETCH, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        async with consuming(broker) as consumer:
            consumer.assign([TopicPartition("forbidden", 0)])
            with pytest.raises(KafkaError, match="TOPIC_AUTHORIZATION_FAILED"):
                await take(consumer, 1)
            assert len(await take(consumer, 1)) == 1  # it may go on

    run(scenario())


def test_a_paused_partition_is_passed_over(broker: Broker) -> None:
    written(broker, "paused", 10)
    partition = TopicPartition("paused", 0)

    async def scenario() -> None:
        async with consuming(broker) as consumer:
            consumer.assign([partition])
            await take(consumer, 1)
            consumer.seek(partition, 0)
            consumer.pause(partition)
            assert await consumer.poll(150) == []
            consumer.resume(partition)
            assert len(await take(consumer, 10)) == 10

    run(scenario())


def test_a_group_goes_on_where_it_committed(broker: Broker) -> None:
    values = written(broker, "resumed", 30)
    partition = TopicPartition("resumed", 0)

    async def scenario() -> None:
        async with consuming(broker, group("resuming")) as consumer:
            consumer.subscribe(["resumed"])
            await take(consumer, 10)
            stored = {partition: CommittedOffset(10, 0, "noted")}
            await consumer.commit(stored)
            assert await consumer.committed([partition]) == stored  # pitfall 32
            await take(consumer, 5)
        async with consuming(broker, group("resuming")) as consumer:
            consumer.subscribe(["resumed"])
            assert [each.value for each in await take(consumer, 15)] == values[15:]

    run(scenario())


def test_without_auto_commit_nothing_is_stored(broker: Broker) -> None:
    values = written(broker, "unstored", 5)

    async def scenario() -> None:
        for _ in range(2):
            settings = group("not-storing", enable_auto_commit=False)
            async with consuming(broker, settings) as consumer:
                consumer.subscribe(["unstored"])
                assert [each.value for each in await take(consumer, 5)] == values

    run(scenario())


async def until(condition: object, *consumers: Consumer) -> None:
    """Polls until something holds, as a user's loops would."""
    assert callable(condition)
    while not condition():
        for consumer in consumers:
            await consumer.poll(20)


def test_partitions_are_shared_and_handed_over(broker: Broker) -> None:
    written(broker, "shared", 10)
    everything = {TopicPartition("shared", index) for index in range(PARTITIONS)}
    heard: list[tuple[str, int]] = []

    async def assigned(partitions: Collection[TopicPartition]) -> None:
        heard.append(("assigned", len(partitions)))

    async def revoked(partitions: Collection[TopicPartition]) -> None:
        heard.append(("revoked", len(partitions)))

    async def scenario() -> None:
        async with consuming(broker, group("sharing")) as first:
            first.subscribe(["shared"], on_assigned=assigned, on_revoked=revoked)
            await until(lambda: first.assignment == everything, first)
            async with consuming(broker, group("sharing")) as second:
                second.subscribe(["shared"])
                await until(lambda: len(second.assignment) == 1, first, second)
                assert first.assignment | second.assignment == everything
                assert not first.assignment & second.assignment  # pitfall 29
            await until(lambda: first.assignment == everything, first)
        assert heard == [("assigned", 3), ("revoked", 1), ("assigned", 1)]

    run(scenario())


def test_a_fenced_member_loses_everything_and_joins_again(broker: Broker) -> None:
    values = written(broker, "fenced", 10)
    lost: list[int] = []

    async def revoked(partitions: Collection[TopicPartition]) -> None:
        lost.append(len(partitions))

    async def scenario() -> None:
        async with consuming(broker, group("fencing")) as consumer:
            consumer.subscribe(["fenced"], on_revoked=revoked)
            await take(consumer, 10)
            await consumer.commit()
            broker.faults.answer(ApiKey.CONSUMER_GROUP_HEARTBEAT, ErrorCode.UNKNOWN_MEMBER_ID)
            await until(lambda: lost, consumer)
            await until(lambda: len(consumer.assignment) == PARTITIONS, consumer)
            assert lost == [PARTITIONS]
            written(broker, "fenced", 1)
            assert [each.value for each in await take(consumer, 1)] == values[:1]

    run(scenario())


def test_a_refused_member_is_told(broker: Broker) -> None:
    async def scenario() -> None:
        broker.faults.answer(
            ApiKey.CONSUMER_GROUP_HEARTBEAT, ErrorCode.GROUP_AUTHORIZATION_FAILED, times=None
        )
        async with consuming(broker, group("refused", enable_auto_commit=False)) as consumer:
            consumer.subscribe(["any"])
            with pytest.raises(KafkaError, match="GROUP_AUTHORIZATION_FAILED"):
                await take(consumer, 1)

    run(scenario())


def test_positions_are_committed_as_time_goes_by(broker: Broker) -> None:
    written(broker, "timely", 10)
    partition = TopicPartition("timely", 0)

    async def scenario() -> None:
        settings = group("timely", auto_commit_interval_ms=50)
        async with consuming(broker, settings) as consumer:
            consumer.subscribe(["timely"])
            await take(consumer, 10)
            await consumer.poll(100)
            await consumer.poll(100)
            stored = await consumer.committed([partition])
            assert stored[partition].offset == 10

    run(scenario())


def test_a_group_is_needed_to_subscribe_and_to_commit(broker: Broker) -> None:
    async def scenario() -> None:
        async with consuming(broker) as consumer:
            with pytest.raises(ValueError, match="group_id"):
                consumer.subscribe(["any"])
            with pytest.raises(NoPositionError, match="no group_id"):
                await consumer.commit({TopicPartition("any", 0): CommittedOffset(0)})
        await asyncio.sleep(0)

    run(scenario())
