"""Apache Kafka's own directories: its broker stopped or killed, ours started on them, and back.

One node moves between the two with its identity, its metadata log and snapshots, its topics in
every codec, transactions, a compacted topic, and the offsets of its groups.
"""

import random
import shutil
import socket
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from snakka.protocol.records.batch import batches
from snakka.protocol.records.record import Record
from snakka.storage import names
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.log import Log
from snakka.storage.log_directory import LogDirectory, OpenedDirectory
from snakka.storage.lookup import find_aborted_transactions
from snakka.storage.open_files import OpenFiles
from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

PROGRAM = JAVA_SOURCES / "KafkaNode.java"
CLUSTER = "ZZZZZZZZQZGZZZZZZZZZZg"


class Node:
    """One node's configuration, and the Java program that is Kafka, or a client of either."""

    def __init__(self, directory: Path, java: JavaProgram) -> None:
        self.java = java
        self.data = directory / "data"
        self.config = directory / "server.properties"
        broker_port, controller_port = free_ports(2)
        self.bootstrap = f"127.0.0.1:{broker_port}"
        settings = (
            "node.id=1",
            "process.roles=broker,controller",
            f"controller.quorum.bootstrap.servers=127.0.0.1:{controller_port}",
            f"listeners=PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{controller_port}",
            "controller.listener.names=CONTROLLER",
            f"log.dirs={self.data}",
            "offsets.topic.replication.factor=1",
            "offsets.topic.num.partitions=3",
            "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1",
            "transaction.state.log.num.partitions=3",
            "group.initial.rebalance.delay.ms=0",
            "log.cleaner.backoff.ms=100",
            "log.initial.task.delay.ms=100",
            "broker.session.timeout.ms=1000",  # how long the killed one counts as alive
            "broker.heartbeat.interval.ms=300",
            "log.flush.start.offset.checkpoint.interval.ms=100",
        )
        self.config.write_text("\n".join(settings) + "\n")
        self.snakka = BrokerProcess(directory, config=self.config)

    def ask(self, command: str, *words: str) -> str:
        answer = self.java.ask(" ".join((command, *words)))
        assert not answer.startswith("error"), answer.replace("|", "\n")
        return answer

    def read(self, isolation: str) -> str:
        return self.ask("read", self.bootstrap, isolation)

    def committed_offsets(self) -> str:
        return self.ask("committed", self.bootstrap, "readers")

    def wait_for_upkeep(self) -> None:
        """Until two of three segments are compacted, and a log's new start is written down."""
        self._wait_for("cleaner-offset-checkpoint", "compacted 0 200")
        self._wait_for("log-start-offset-checkpoint", "none 0 7")

    def _wait_for(self, checkpoint: str, line: str) -> None:
        deadline = time.monotonic() + 20
        while line not in (self.data / checkpoint).read_text():
            assert time.monotonic() < deadline, f"no {line!r} in {checkpoint}"
            time.sleep(0.05)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def test_a_node_moves_from_kafka_to_snakka_and_back(tmp_path: Path) -> None:
    with JavaProgram(PROGRAM) as java:
        move_and_back(Node(tmp_path, java), tmp_path)


def move_and_back(node: Node, tmp_path: Path) -> None:
    node.ask("format", str(node.config), CLUSTER)
    node.ask("start", str(node.config))
    node.ask("produce", node.bootstrap)
    node.wait_for_upkeep()
    committed, uncommitted = node.read("read_committed"), node.read("read_uncommitted")
    offsets = node.committed_offsets()
    assert offsets == "{gzip-0=33:so far}"
    node.ask("stop")

    opened = opened_copy(node.data, tmp_path / "stopped")
    assert opened.was_clean
    assert contents(opened, read_committed=True) == committed
    assert contents(opened, read_committed=False) == uncommitted
    assert len(opened.directory.logs[names.TopicPartition("big", 0)].segments) == 3

    with node.snakka:
        admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
        assert admin.list_topics(timeout=30).cluster_id == CLUSTER
        assert node.read("read_committed") == committed
        assert node.read("read_uncommitted") == uncommitted
        assert node.committed_offsets() == offsets
        assert "open-0[0:2]" in committed
        node.ask("more", node.bootstrap, "from-snakka")
        commit(node.bootstrap, "zstd", 44)
        committed, uncommitted = node.read("read_committed"), node.read("read_uncommitted")
        assert "open-0[0:6]" in committed, "the transaction that Kafka began has been aborted"

    node.ask("start", str(node.config))
    assert node.read("read_committed") == committed
    assert node.read("read_uncommitted") == uncommitted
    assert node.committed_offsets() == "{gzip-0=33:so far, zstd-0=44:}"
    node.ask("more", node.bootstrap, "from-kafka-again")
    node.ask("stop")


def test_a_killed_kafka_goes_on_as_snakka_and_a_killed_snakka_as_kafka(tmp_path: Path) -> None:
    with JavaProgram(PROGRAM) as victim:
        node = Node(tmp_path, victim)
        node.ask("format", str(node.config), CLUSTER)
        node.ask("start", str(node.config))
        node.ask("produce", node.bootstrap)
        node.wait_for_upkeep()
        committed, uncommitted = node.read("read_committed"), node.read("read_uncommitted")
        victim.kill()

    opened = opened_copy(node.data, tmp_path / "killed")
    assert not opened.was_clean
    assert not any(each.damages for each in opened.opened)
    assert contents(opened, read_committed=True) == committed
    assert contents(opened, read_committed=False) == uncommitted

    with JavaProgram(PROGRAM) as java:
        node.java = java
        node.snakka.start()
        try:
            assert node.read("read_committed") == committed
            assert node.committed_offsets() == "{gzip-0=33:so far}"
            node.ask("more", node.bootstrap, "from-snakka")
            committed, uncommitted = node.read("read_committed"), node.read("read_uncommitted")
        finally:
            node.snakka.kill()

        node.ask("start", str(node.config))
        assert node.read("read_committed") == committed
        assert node.read("read_uncommitted") == uncommitted
        node.ask("stop")


def commit(bootstrap: str, topic: str, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "readers", "log_level": 0})
    try:
        consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    finally:
        consumer.close()


def opened_copy(data: Path, target: Path) -> OpenedDirectory:
    shutil.copytree(data, target)
    now_ms = time.time_ns() // 1_000_000
    files = OpenFiles(LocalDisk())
    rng = random.Random(0)
    return LogDirectory.open(files, str(target), rng, lambda _: LogConfig(), now_ms=now_ms)


def contents(opened: OpenedDirectory, *, read_committed: bool) -> str:
    """All that the logs hold for a consumer, in the form of `KafkaNode read`."""
    found = []
    for name, log in opened.directory.logs.items():
        if not name.topic.startswith("__"):
            log.update_high_watermark(log.log_end_offset)
            end = log.last_stable_offset if read_committed else log.high_watermark
            records = visible(log, end, read_committed=read_committed)
            shown = "".join(f"{show(each)}," for each in records)
            found.append(f"{name}[{log.log_start_offset}:{end}]{shown};")
    return "".join(sorted(found))


def visible(log: Log, end: int, *, read_committed: bool) -> Iterator[Record]:
    start = log.log_start_offset
    aborted = find_aborted_transactions(log, start, end) if read_committed else []
    data = log.read(start, max_bytes=1 << 30, max_offset=end).copy()
    for batch in batches(data):
        header = batch.header
        batch.verify_crc()
        is_aborted = any(
            entry.producer_id == header.producer_id
            and entry.first_offset <= header.base_offset <= entry.last_offset
            for entry in aborted
        )
        if not header.is_control and not is_aborted:
            yield from (each for each in batch.records() if each.offset >= start)


def show(record: Record) -> str:
    headers = "".join(f"{name}{checksum(value)}" for name, value in record.headers)
    return (
        f"{record.offset}/{checksum(record.key)}/{checksum(record.value)}/"
        f"{record.timestamp_ms}/{headers}"
    )


def checksum(data: bytes | None) -> str:
    return "-" if data is None else str(zlib.crc32(data))
