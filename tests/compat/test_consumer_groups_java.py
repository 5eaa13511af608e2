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
    settings = (
        "group.initial.rebalance.delay.ms=0",
        "group.consumer.min.heartbeat.interval.ms=200",
        "group.consumer.heartbeat.interval.ms=200",
    )
    with BrokerProcess(directory, *settings) as process:
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


CLASSIC = {"session_timeout_ms": "10000", "heartbeat_interval_ms": "500"}


@pytest.mark.parametrize("assignor", ["RangeAssignor", "CooperativeStickyAssignor"])
def test_a_group_changes_its_protocol_member_by_member(
    broker: BrokerProcess, java: JavaProgram, assignor: str
) -> None:
    topic = group = f"migrated-{assignor}"
    create(broker, topic, 4)
    strategy = f"org.apache.kafka.clients.consumer.{assignor}"

    def member(name: str, protocol: str) -> Member:
        settings = {"group_id": group, "group_protocol": protocol, "auto_commit_interval_ms": "100"}
        if protocol == "classic":
            settings |= {**CLASSIC, "partition_assignment_strategy": strategy}
        made = Member(java, broker, f"{group}-{name}", **settings)
        made.subscribe(topic)
        return made

    everybody: list[Member] = []
    produced: list[str] = []

    def go_on(*members: Member) -> None:
        """All share the topic evenly, and get what is produced meanwhile."""
        everybody.extend(each for each in members if each not in everybody)
        share = 4 // len(members)
        poll_until(list(members), lambda: all(len(each.assigned()) == share for each in members))
        assigned = [partition for each in members for partition in each.assigned()]
        assert len(set(assigned)) == 4
        new = [f"{len(produced) + index}" for index in range(8)]
        produced.extend(new)
        produce(broker, topic, *new)
        poll_until(
            list(members),
            lambda: set(produced) == {value for each in everybody for value in each.values},
        )

    def leave(member: Member) -> None:
        member.commit()
        member.close()

    a, b = member("a", "classic"), member("b", "classic")
    go_on(a, b)
    leave(a)
    x = member("x", "consumer")
    go_on(b, x)
    leave(b)
    y = member("y", "consumer")
    go_on(x, y)
    leave(x)
    c = member("c", "classic")
    go_on(y, c)
    leave(y)
    d = member("d", "classic")
    go_on(c, d)
    for each in (c, d):
        each.close()
    got = sorted(value for each in everybody for value in each.values)
    assert got == sorted(produced)  # committed on leaving, so nothing comes twice
