"""A copier killed at random, and its broker too: every input is in the output exactly once.

COPIER_KILLS sets how often the copier is killed; the broker is, at every third of them.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.broker_process import BrokerProcess
from tests.compat.copier import NAME, STEADY

KILLS = int(os.environ.get("COPIER_KILLS", "6"))
PARTITIONS = 3
RECORDS_PER_LIFE = 120  # more than it can copy in that time
TRANSACTIONS_PER_LIFE = 6
TIMEOUT_S = 60


class CopierProcess:
    """The copier, which is started again whenever it has ended."""

    def __init__(self, broker: BrokerProcess) -> None:
        script = str(Path(__file__).with_name("copier.py"))
        topics = ("in", "out", str(PARTITIONS))
        self._command = [sys.executable, script, broker.bootstrap, *topics]
        self.records_max = 8  # of a transaction
        self._process: subprocess.Popen[bytes] | None = None

    def keep_running(self) -> None:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [*self._command, str(self.records_max)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def begin(self, transactions: int) -> None:
        """Returns once it has begun so many, or has ended before."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.stdout.read(transactions)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def __enter__(self) -> "CopierProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()


def create_topics(broker: BrokerProcess) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    made = admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in ("in", "out")])
    for each in made.values():
        each.result(TIMEOUT_S)


def feed(producer: Producer, numbers: range) -> list[bytes]:
    values = [b"%d" % number for number in numbers]
    for value in values:
        producer.produce("in", value, key=value)
    assert producer.flush(TIMEOUT_S) == 0
    return values


def read_committed(broker: BrokerProcess, topic: str) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
    values: list[bytes] = []
    ended = 0
    while ended < PARTITIONS:
        for message in consumer.consume(1000, 1.0):
            error = message.error()
            if error is None:
                values.append(message.value())
            else:
                assert error.code() == KafkaError._PARTITION_EOF
                ended += 1
    consumer.close()
    return values


def copied(consumer: Consumer) -> int:
    positions = consumer.committed([TopicPartition("in", index) for index in range(PARTITIONS)], 5)
    return sum(max(each.offset, 0) for each in positions)


def wait_until_copied(broker: BrokerProcess, copier: CopierProcess, count: int) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": NAME, "log_level": 0})
    deadline = time.monotonic() + TIMEOUT_S
    while copied(consumer) < count:
        assert time.monotonic() < deadline, f"{copied(consumer)} of {count}"
        copier.keep_running()
        time.sleep(0.1)
    consumer.close()


def test_every_input_is_copied_exactly_once_through_all_kills(tmp_path: Path) -> None:
    # pitfalls 2 and 47
    with BrokerProcess(tmp_path / "broker") as broker:
        create_topics(broker)
        values = copy_through_kills(broker, random.Random(5))
        found = read_committed(broker, "out")
    assert len(found) == len(values)
    assert sorted(found) == sorted(values)


def copy_through_kills(broker: BrokerProcess, rng: random.Random) -> list[bytes]:
    """What there was to be copied, once all of it is."""
    source = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "enable.idempotence": True,
            **STEADY,
            "log_level": 0,
        }
    )
    values: list[bytes] = []
    with CopierProcess(broker) as copier:
        for kill in range(KILLS):
            values += feed(source, range(len(values), len(values) + RECORDS_PER_LIFE))
            copier.keep_running()
            copier.begin(rng.randint(0, TRANSACTIONS_PER_LIFE))
            time.sleep(rng.uniform(0.0, 0.02))  # anywhere in a transaction, or between two
            if kill % 3 == 1:
                broker.kill()
                broker.start()
                copier.begin(rng.randint(0, 1))
            copier.kill()
        copier.records_max = 500
        wait_until_copied(broker, copier, len(values))
    return values
