"""The same orders to clients that we did not write, against a broker process.

Java's own of Kafka 4.3 and of 3.9, librdkafka, franz-go, Sarama, KafkaJS, kafka-python, aiokafka.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from snakka.protocol.error_codes import ErrorCode
from tests.compat.broker_process import BrokerProcess
from tests.compat.client_programs import (
    ClientProgram,
    aiokafka,
    franz_go,
    java_of_3_9,
    java_of_4_3,
    kafka_python,
    kafkajs,
    librdkafka,
    sarama,
)

PROGRAMS: dict[str, Callable[[], ClientProgram]] = {
    "java-4.3": java_of_4_3,
    "java-3.9": java_of_3_9,
    "librdkafka": librdkafka,
    "franz-go": franz_go,
    "sarama": sarama,
    "kafkajs": kafkajs,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
}
KNOW_THE_CONSUMER_PROTOCOL = ["java-4.3", "java-3.9", "librdkafka", "franz-go"]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
COUNT = 120
MAX_MESSAGE_BYTES = 1_048_588


class Client:
    """A running client of some language, and the broker that it talks to."""

    def __init__(self, name: str, program: ClientProgram, broker: BrokerProcess) -> None:
        self.name = name
        self._program = program
        self._bootstrap = broker.bootstrap

    def produce(self, topic: str, records: list[dict[str, Any]], **order: Any) -> list[int]:
        answer = self.ask("produce", topic=topic, records=records, **order)
        offsets: list[int] = answer["offsets"]
        return offsets

    def consume(self, topic: str, count: int, **order: Any) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = self.ask("consume", topic=topic, count=count, **order)[
            "records"
        ]
        return sorted(records, key=lambda each: (each["partition"], each["offset"]))

    def create(self, topic: str, partitions: int = 3) -> None:
        admin = AdminClient({"bootstrap.servers": self._bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(20)

    def ask(self, do: str, **order: Any) -> dict[str, Any]:
        return self._program.ask(do, **self._complete(order))

    def try_to(self, do: str, **order: Any) -> dict[str, Any]:
        return self._program.try_to(do, **self._complete(order))

    def _complete(self, order: dict[str, Any]) -> dict[str, Any]:
        return {"bootstrap": self._bootstrap, "codec": "none", "acks": -1, **order}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    settings = {
        "num.partitions": 3,
        "group.initial.rebalance.delay.ms": 100,
        "group.consumer.heartbeat.interval.ms": 100,
        "group.consumer.min.heartbeat.interval.ms": 100,
    }
    words = [f"{key}={value}" for key, value in settings.items()]
    with BrokerProcess(tmp_path_factory.mktemp("broker"), *words) as process:
        yield process


@pytest.fixture(scope="module", params=PROGRAMS)
def client(broker: BrokerProcess, request: pytest.FixtureRequest) -> Iterator[Client]:
    with PROGRAMS[request.param]() as program:
        yield Client(request.param, program, broker)


def made(count: int, partitions: int = 3) -> list[dict[str, Any]]:
    return [
        {
            "partition": index % partitions,
            "key": f"key {index}",
            "value": f"value {index} " + "æ" * (index % 50),
            "headers": [["index", str(index)], ["name", "née"]],
            "timestamp": 1_700_000_000_000 + index,
        }
        for index in range(count)
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_records_come_back_as_they_were_sent(client: Client, codec: str) -> None:
    topic = f"{client.name}-{codec}"
    sent = made(COUNT)
    offsets = client.produce(topic, sent, codec=codec)
    wanted = [{**each, "offset": offset} for each, offset in zip(sent, offsets, strict=True)]
    wanted.sort(key=lambda each: (each["partition"], each["offset"]))
    assert [each["offset"] for each in wanted] == [*range(COUNT // 3)] * 3
    assert client.consume(topic, COUNT) == wanted


@pytest.mark.parametrize("acks", [0, 1])
def test_fewer_acks(client: Client, acks: int) -> None:
    topic = f"{client.name}-acks-{acks}"
    client.produce(topic, made(COUNT))  # so that the topic is there when nothing is told of it
    client.produce(topic, made(COUNT), acks=acks)
    values = [each["value"] for each in client.consume(topic, 2 * COUNT)]
    assert sorted(values) == sorted(2 * [each["value"] for each in made(COUNT)])


def test_a_null_key_and_a_null_value(client: Client) -> None:
    topic = f"{client.name}-nulls"
    (sent,) = made(1)
    client.produce(topic, [{**sent, "key": None}, {**sent, "value": None}])
    keyless, tombstone = client.consume(topic, 2)
    assert (keyless["key"], keyless["value"]) == (None, sent["value"])
    assert (tombstone["key"], tombstone["value"]) == (sent["key"], None)


def test_messages_up_to_the_limit_and_over_it(client: Client) -> None:
    topic = f"{client.name}-large"
    (sent,) = made(1)
    large = {**sent, "value": "x" * (MAX_MESSAGE_BYTES - 500)}
    client.produce(topic, [large])
    too_large = {**sent, "value": "x" * MAX_MESSAGE_BYTES}
    refused = client.try_to("produce", topic=topic, records=[too_large])
    assert refused["code"] == ErrorCode.MESSAGE_TOO_LARGE
    client.produce(topic, [sent])
    assert [each["value"] for each in client.consume(topic, 2)] == [large["value"], sent["value"]]


def test_a_group_whose_members_come_and_go_while_it_is_produced_to(client: Client) -> None:
    share(client, "classic")


@pytest.mark.parametrize(
    "client", ["java-4.3", "java-3.9", "librdkafka", "franz-go"], indirect=True
)
def test_a_group_of_the_consumer_protocol_likewise(client: Client) -> None:
    share(client, "consumer")


def share(client: Client, protocol: str) -> None:
    topic = f"{client.name}-shared-{protocol}"
    client.create(topic)
    group = f"{topic}-group"
    shared = client.ask("share", topic=topic, partitions=3, group=group, protocol=protocol)
    assert [len(values) >= 10 for values in shared["members"]] == [True] * 3
    received = {value for values in shared["members"] for value in values}
    assert received == {f"value {index}" for index in range(shared["sent"])}


def test_an_admin_round_trip(client: Client) -> None:
    group = f"{client.name}-described"
    client.create(f"{group}-topic")
    client.ask("share", topic=f"{group}-topic", partitions=3, group=group, protocol="classic")
    assert client.ask("admin", topic=f"{client.name}-administered", group=group) == {
        "created_again": ErrorCode.TOPIC_ALREADY_EXISTS,
        "partitions": 5,
        "retention_before": "1000",
        "retention_after": "2000",
        "group_state": "Empty",
        "deleted": True,
    }


@pytest.mark.parametrize("client", ["java-4.3", "java-3.9"], indirect=True)
def test_a_consumer_is_put_where_it_is_wanted(client: Client) -> None:
    topic = f"{client.name}-positions"
    sent = made(10, partitions=1)
    client.produce(topic, sent)
    asked = client.ask("positions", topic=topic, timestamp=sent[4]["timestamp"], offset=6)
    assert asked == {
        "offset_for_time": 4,
        "begin": 0,
        "end": 10,
        "after_seek": sent[6]["value"],
        "while_paused": 0,
        "after_resume": sent[7]["value"],
        "position_at_end": 10,
    }


def test_values_are_copied_exactly_once_though_transactions_abort(client: Client) -> None:
    source, target = f"{client.name}-source", f"{client.name}-target"
    client.create(source, partitions=1)
    client.create(target, partitions=1)
    sent = made(COUNT, partitions=1)
    client.produce(source, sent)
    counts = client.ask(
        "copy",
        topic=source,
        to=target,
        count=COUNT,
        group=f"{client.name}-copying",
        protocol="classic",
        transactional_id=f"{client.name}-copier",
        abort_every=3,
    )
    assert min(counts.values()) > 3, counts
    (last,) = made(1)
    client.produce(target, [last])  # which ends what may be read
    wanted = [f"copy of {each['value']}" for each in sent]
    committed = client.consume(target, COUNT + 1, read_committed=True)
    assert [each["value"] for each in committed] == [*wanted, last["value"]]
    everything = client.consume(target, COUNT + 1, read_committed=False)
    assert [each["value"] for each in everything] != [each["value"] for each in committed]
