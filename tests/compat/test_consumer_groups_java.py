"""Kafka's own consumers in groups: subscriptions by expression, and both protocols in one group."""

import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

TIMEOUT_S = 60


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    directory = tmp_path_factory.mktemp("broker")
    with BrokerProcess(directory, "group.initial.rebalance.delay.ms=0") as process:
        yield process


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(JAVA_SOURCES / "Consumers.java") as program:
        yield program


def create(broker: BrokerProcess, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(20)


def produce(broker: BrokerProcess, topic: str, *values: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for index, value in enumerate(values):
        producer.produce(topic, value, key=str(index))
    assert producer.flush(20) == 0


class Member:
    """One of Kafka's consumers."""

    def __init__(
        self, java: JavaProgram, broker: BrokerProcess, name: str, **settings: str
    ) -> None:
        self._java = java
        self._name = name
        self.values: list[str] = []
        words = {key.replace("_", "."): value for key, value in settings.items()}
        words["bootstrap.servers"] = broker.bootstrap
        self._ask("open", *(f"{key}={value}" for key, value in words.items()))

    def _ask(self, command: str, *words: str) -> list[str]:
        answer = self._java.ask("\t".join([command, self._name, *words]))
        assert not answer.startswith("!"), answer
        return [each for each in answer.split("\t") if each]

    def subscribe(self, *topics: str) -> None:
        self._ask("topics", *topics)

    def match(self, expression: str) -> None:
        self._ask("pattern", expression)

    def poll(self) -> None:
        self.values += [each.partition("=")[2] for each in self._ask("poll", "100")]

    def assigned(self) -> list[str]:
        return self._ask("assigned")

    def commit(self) -> None:
        self._ask("commit")

    def close(self) -> None:
        self._ask("close")


def poll_until(members: list[Member], is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline, [(each.assigned(), each.values) for each in members]
        for each in members:
            each.poll()


def test_an_expression_matches_on_the_broker(broker: BrokerProcess, java: JavaProgram) -> None:
    create(broker, "logs-a", 1)
    create(broker, "logs-b", 2)
    create(broker, "other", 1)
    member = Member(java, broker, "m", group_id="matching", group_protocol="consumer")
    member.match("logs-[a-z]")
    poll_until([member], lambda: member.assigned() == ["logs-a-0", "logs-b-0", "logs-b-1"])
    produce(broker, "logs-a", "one")
    produce(broker, "other", "not this")
    produce(broker, "logs-b", "two")
    poll_until([member], lambda: sorted(member.values) == ["one", "two"])
    member.match("[")
    with pytest.raises(AssertionError, match="InvalidRegularExpression"):
        poll_until([member], lambda: False)
    member.close()
