"""Members join, leave and crash at random in one group: no partition has two owners, none is lost.

Runs short; CHURN_S and CHURN_MEMBERS set how long, and with how many. The members are
librdkafka's, each in a process of its own.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.broker_process import BrokerProcess

CHURN_S = float(os.environ.get("CHURN_S", "8"))
MEMBERS = int(os.environ.get("CHURN_MEMBERS", "12"))
ACTIONS_PER_S = min(MEMBERS / 6, 4)
PARTITIONS = 24
SESSION_MS = 6_000
SETTLE_S = 60
ROOT = Path(__file__).parents[2]


class Ownership(NamedTuple):
    start_ns: int
    end_ns: int
    member: str
    ended_by: str


@dataclass
class Member:
    """A process, and what it says."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]
    killed_ns: int | None = None

    def leave(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def crash(self) -> None:
        self.process.kill()
        self.process.wait()
        self.killed_ns = time.monotonic_ns()

    def events(self) -> list[tuple[str, int, list[str]]]:
        lines = self.log.read_text().splitlines()
        parts = [line.split(" ") for line in lines]
        return [(event, int(at), what.split(",") if what else []) for event, at, what in parts]

    def received(self) -> list[str]:
        return [each for event, _, what in self.events() if event == "received" for each in what]

    def ownerships(self, session_ns: int) -> dict[str, list[Ownership]]:
        """When it owned what.

        A loss is heard of up to a session's length after it. One that leaves processes nothing more
        and may be waiting for its commit without heartbeats, so that its session ends.
        """
        owned: dict[str, list[Ownership]] = defaultdict(list)
        since: dict[str, int] = {}
        latest = sys.maxsize
        for event, at, what in self.events():
            if event == "assigned":
                since |= dict.fromkeys(what, at)
            elif event == "leaving":
                latest = at + session_ns
            elif event in ("revoked", "lost"):
                end = min(at, latest) if event == "revoked" else at - session_ns
                for partition in what:
                    start = since.pop(partition)
                    owned[partition].append(Ownership(start, max(start, end), self.name, event))
        assert self.killed_ns is not None or not since, f"{self.name} never gave {since} back"
        for partition, start in since.items():
            owned[partition].append(Ownership(start, self.killed_ns or 0, self.name, "crash"))
        return owned


@dataclass
class Group:
    """The members that there are, and were."""

    command: list[str]
    directory: Path
    rng: random.Random
    all: list[Member] = field(default_factory=list)
    present: list[Member] = field(default_factory=list)

    def join(self) -> None:
        log = self.directory / f"member-{len(self.all)}"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.command, stdout=out, stderr=subprocess.DEVNULL, cwd=ROOT
            )
        member = Member(log.name, log, process)
        self.all.append(member)
        self.present.append(member)

    def change(self) -> None:
        """One joins, leaves or crashes; about as many as before are left."""
        is_full = len(self.present) >= MEMBERS
        if not is_full and (self.rng.random() < 0.8 or len(self.present) < MEMBERS // 2):
            self.join()
            return
        member = self.present.pop(self.rng.randrange(len(self.present)))
        if self.rng.random() < 0.5:
            member.leave()
        else:
            member.crash()

    def end(self) -> None:
        for member in self.present:
            member.leave()
        for member in self.all:
            member.process.wait(SETTLE_S)

    def received(self) -> list[str]:
        return [value for member in self.all for value in member.received()]


class Numbers:
    """Sends one number after another, and knows which were acknowledged."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        settings = {"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0}
        self._producer = Producer({**settings, "enable.idempotence": True})
        self._topic = topic
        self._next = 0
        self.acknowledged: set[str] = set()

    def send(self, count: int) -> None:
        for number in range(self._next, self._next + count):
            self._producer.produce(
                self._topic,
                str(number),
                partition=number % PARTITIONS,
                on_delivery=self._delivered,
            )
        self._next += count
        self._producer.poll(0)

    def finish(self) -> None:
        assert self._producer.flush(30) == 0
        assert len(self.acknowledged) == self._next

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        self.acknowledged.add((message.value() or b"").decode())


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_come_go_and_crash_at_random(tmp_path: Path, protocol: str) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    settings = {
        "group.initial.rebalance.delay.ms": 100,
        "group.consumer.session.timeout.ms": SESSION_MS,
        "group.consumer.min.session.timeout.ms": SESSION_MS,
        "group.consumer.heartbeat.interval.ms": SESSION_MS // 20,
        "group.consumer.min.heartbeat.interval.ms": SESSION_MS // 20,
    }
    words = [f"{key}={value}" for key, value in settings.items()]
    with BrokerProcess(tmp_path / "broker", *words) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic("churned", PARTITIONS, 1)])["churned"].result(20)
        member = [sys.executable, "-m", "tests.compat.group_member"]
        command = [*member, broker.bootstrap, "churned", "churning", protocol, str(SESSION_MS)]
        group = Group(command, tmp_path, random.Random(seed))
        numbers = Numbers(broker.bootstrap, "churned")
        try:
            churn(group, numbers)
            numbers.finish()
            wait_for(group, numbers.acknowledged)
        finally:
            group.end()
        report(protocol, group, numbers)
    check_owners(group)
    assert {*group.received()} == numbers.acknowledged


def churn(group: Group, numbers: Numbers) -> None:
    for _ in range(MEMBERS // 2):
        group.join()
    end = time.monotonic() + CHURN_S
    while time.monotonic() < end:
        numbers.send(20)
        if group.rng.random() < ACTIONS_PER_S * 0.05:
            group.change()
        time.sleep(0.05)


def wait_for(group: Group, wanted: set[str]) -> None:
    deadline = time.monotonic() + SETTLE_S
    while not wanted <= {*group.received()}:
        missing = wanted - {*group.received()}
        assert time.monotonic() < deadline, f"{len(missing)} lost: {sorted(missing)[:10]}"
        time.sleep(0.5)


def check_owners(group: Group) -> None:
    by_partition: dict[str, list[Ownership]] = defaultdict(list)
    for member in group.all:
        for partition, owned in member.ownerships(SESSION_MS * 1_000_000).items():
            by_partition[partition] += owned
    assert len(by_partition) == PARTITIONS
    for partition, owned in by_partition.items():
        owned.sort()
        for before, after in pairwise(owned):
            assert before.end_ns <= after.start_ns, f"partition {partition}: {before}, {after}"


def report(protocol: str, group: Group, numbers: Numbers) -> None:
    received = group.received()
    events = [event for member in group.all for event, _, _ in member.events()]
    crashed = sum(member.killed_ns is not None for member in group.all)
    print(
        f"{protocol}: {len(group.all)} members, {crashed} crashed; "
        f"{events.count('assigned')} assignments, {events.count('lost')} lost; "
        f"{len(numbers.acknowledged)} values, {len(received) - len({*received})} received again"
    )
