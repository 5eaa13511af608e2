"""Our client and command line against Apache Kafka's own broker, in one node."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from snakka.cli.main import main
from snakka.client.cluster import Cluster
from snakka.client.consumer import Consumer
from snakka.client.consumer_settings import ConsumerSettings, OffsetReset
from snakka.client.list_offsets import IsolationLevel
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.producer import Producer, ProducerSettings
from snakka.client.records import TopicPartition
from snakka.client.transactions import TransactionStateError
from snakka.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from snakka.protocol.records.compression import Compression
from tests.compat.java_oracle import JavaProgram
from tests.compat.test_kafka_directories import CLUSTER, PROGRAM, Node

FROM_START = ConsumerSettings(auto_offset_reset=OffsetReset.EARLIEST, fetch_max_wait_ms=50)


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Kafka's broker listens."""
    with JavaProgram(PROGRAM) as java:
        node = Node(tmp_path_factory.mktemp("kafka"), java)
        node.ask("format", str(node.config), CLUSTER)
        node.ask("start", str(node.config))
        yield node.bootstrap
        node.ask("stop")


async def values(
    cluster: Cluster, topic: str, isolation: IsolationLevel = IsolationLevel.READ_COMMITTED
) -> list[bytes]:
    """What is in partition 0 of a topic, up to where a record says `end`."""
    settings = ConsumerSettings(
        auto_offset_reset=OffsetReset.EARLIEST, isolation_level=isolation, fetch_max_wait_ms=50
    )
    read: list[bytes] = []
    async with Consumer(cluster, settings) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        async for record in consumer:
            if record.value == b"end":
                return read
            read.append(record.value or b"")
    raise AssertionError


def test_what_is_written_is_read_in_every_codec(kafka: str) -> None:
    async def scenario() -> None:
        async with Cluster(kafka) as cluster:
            for codec in Compression:
                settings = ProducerSettings(compression_type=codec)
                sent = [b"value %d" % index for index in range(500)]
                async with Producer(cluster, settings) as producer:
                    deliveries = [
                        await producer.send(codec.name, each, key=b"k", headers=[("h", None)])
                        for each in sent
                    ]
                    await producer.send(codec.name, b"end")
                assert [(await each).offset for each in deliveries] == list(range(500))
                assert await values(cluster, codec.name) == sent

    asyncio.run(asyncio.wait_for(scenario(), 60))


async def downgrade_transactions(cluster: Cluster) -> None:
    """To v1."""
    update = FeatureUpdateKey(feature="transaction.version", max_version_level=1, upgrade_type=2)
    request = UpdateFeaturesRequest(feature_updates=[update])
    await cluster.ask_controller(request, UpdateFeaturesResponse)


@pytest.mark.parametrize("version", [2, 1])
def test_transactions_of_both_versions(kafka: str, version: int) -> None:
    topic = group = f"transactions-{version}"
    consumed = {TopicPartition(topic, 0): CommittedOffset(7)}

    async def scenario() -> None:
        async with Cluster(kafka) as cluster:
            if version == 1:
                await downgrade_transactions(cluster)
        async with (
            Cluster(kafka) as cluster,
            Producer(cluster, ProducerSettings(transactional_id=topic)) as producer,
        ):
            assert (await cluster.features()).get("transaction.version") == version
            for index in range(3):
                async with producer.transaction():
                    await producer.send(topic, b"committed %d" % index, partition=0)
            producer.begin_transaction()
            await (await producer.send(topic, b"aborted", partition=0))
            await producer.abort_transaction()
            producer.begin_transaction()
            await producer.send(topic, b"after", partition=0)
            await producer.send_offsets(consumed, GroupMember(group))
            await producer.commit_transaction()
            with pytest.raises(TransactionStateError, match="no transaction was begun"):
                await producer.send(topic, b"outside")
            async with producer.transaction():
                await producer.send(topic, b"end", partition=0)
            assert await values(cluster, topic) == [
                b"committed 0",
                b"committed 1",
                b"committed 2",
                b"after",
            ]
            uncommitted = await values(cluster, topic, IsolationLevel.READ_UNCOMMITTED)
            assert uncommitted[3:] == [b"aborted", b"after"]
            async with Consumer(cluster, ConsumerSettings(group_id=group)) as consumer:
                assert (await consumer.committed(consumed)) == consumed

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_a_producer_is_fenced_by_the_next_of_its_id(kafka: str) -> None:
    settings = ProducerSettings(transactional_id="fenced")

    async def scenario() -> None:
        async with Cluster(kafka) as cluster, Producer(cluster, settings) as old:
            old.begin_transaction()
            await (await old.send("fenced", b"of the old one", partition=0))
            async with Producer(cluster, settings) as new:
                async with new.transaction():
                    await new.send("fenced", b"of the new one", partition=0)
                    await new.send("fenced", b"end", partition=0)
                with pytest.raises(Exception, match=r"EPOCH|FENCED"):
                    await old.commit_transaction()
            assert await values(cluster, "fenced") == [b"of the new one"]

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_a_group_of_two(kafka: str) -> None:
    settings = ConsumerSettings(group_id="pair", auto_offset_reset=OffsetReset.EARLIEST)
    outcome = CliRunner().invoke(main, ["topics", "create", "pair", "-p", "4", "-b", kafka])
    assert outcome.exit_code == 0, outcome.output

    async def scenario() -> None:
        async with Cluster(kafka) as cluster, Consumer(cluster, settings) as first:
            first.subscribe(["pair"])
            async with Consumer(cluster, settings) as second:
                second.subscribe(regex="pai.")
                while sorted((len(first.assignment), len(second.assignment))) != [2, 2]:
                    await first.poll(100)
                    await second.poll(100)
            async with Producer(cluster) as producer:
                await producer.send("pair", b"value")
            async for record in first:
                assert record.value == b"value"
                break

    asyncio.run(asyncio.wait_for(scenario(), 90))


def test_the_command_line(kafka: str) -> None:
    def run(*words: str, stdin: str | None = None) -> str:
        outcome = CliRunner().invoke(main, [*words, "-b", kafka], input=stdin)
        assert outcome.exit_code == 0, outcome.output
        return outcome.stdout

    run("topics", "create", "cli", "-p", "1", "-c", "retention.ms=100000000")
    run("produce", "cli", "-k", ":", "-z", "zstd", stdin="a:1\nb:2\n")
    assert run("consume", "cli", "-o", "start", "-e", "-f", r"%k=%v\n") == "a=1\nb=2\n"
    assert run("consume", "cli", "-g", "g", "-o", "start", "-n", "1") == "1\n"
    (group,) = json.loads(run("groups", "describe", "g", "--json"))
    assert [each["lag"] for each in group["partitions"]] == [1]
    run("groups", "reset-offsets", "g", "--to-latest")
    (topic,) = json.loads(run("topics", "describe", "cli", "--json"))
    assert topic["configs"] == {"retention.ms": "100000000"}
    run("configs", "set", "topic", "cli", "retention.ms=200000000")
    run("configs", "unset", "topic", "cli", "retention.ms")
    described = json.loads(run("cluster", "describe", "--json"))
    assert described["id"] == CLUSTER
    assert described["features"]["kraft.version"] == 1
    run("groups", "delete", "g")
    run("topics", "delete", "cli")
