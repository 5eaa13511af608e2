"""Several nodes as processes of their own, formatted and started as a user does it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from snakka.cli.main import main
from snakka.client.address import Address
from snakka.client.connection import Connection
from snakka.client.errors import ClientError
from snakka.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
)
from snakka.quorum.replies import TOPIC
from tests.compat.java_oracle import classpath

CLUSTER = "ZZZZZZZZQZGZZZZZZZZZZg"
START_TIMEOUT_S = 60


def free_ports(count: int) -> list[int]:
    """Ports that nobody has just now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@dataclass
class NodeProcess:
    """One node: its file of settings, its directory, and its process while there is one."""

    directory: Path
    node_id: int
    roles: str
    controller_port: int = 0
    broker_port: int = 0
    settings: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        listeners = []
        if "broker" in self.roles:
            listeners.append(f"PLAINTEXT://127.0.0.1:{self.broker_port}")
        if "controller" in self.roles:
            listeners.append(f"CONTROLLER://127.0.0.1:{self.controller_port}")
        lines = (
            f"node.id={self.node_id}",
            f"process.roles={self.roles}",
            f"listeners={','.join(listeners)}",
            "controller.listener.names=CONTROLLER",
            f"log.dirs={self.directory}/data",
            *self.settings,
        )
        self.config.write_text("\n".join(lines) + "\n")

    @property
    def config(self) -> Path:
        return self.directory / "server.properties"

    @property
    def log(self) -> Path:
        return self.directory / "node.log"

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.broker_port}"

    @property
    def controller(self) -> str:
        return f"127.0.0.1:{self.controller_port}"

    def format(self, *arguments: str) -> None:
        command = ["format", "-t", CLUSTER, "-c", str(self.config), *arguments]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output

    def command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "snakka", "serve"),
            *("--config", str(self.config), "--log-level", "info"),
        ]

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=subprocess.STDOUT, env={**os.environ}
            )

    def stop(self) -> None:
        """As Ctrl-C does; it must end well."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=START_TIMEOUT_S) == 0, self.log.read_text()
        self.process = None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def wait_until_serving(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while "cluster " not in self.log.read_text():
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)


class KafkaNodeProcess(NodeProcess):
    """A node of Apache Kafka's own, of the same settings and directories."""

    def command(self) -> list[str]:
        options = ["-XX:TieredStopAtLevel=1", "-Xmx256m"]
        return ["java", *options, "-cp", classpath(), "kafka.Kafka", str(self.config)]


async def _describe(address: Address) -> DescribeQuorumResponse:
    connection = await Connection.open(address)
    try:
        topic = RequestTopicData(
            topic_name=TOPIC, partitions=[RequestPartitionData(partition_index=0)]
        )
        request = DescribeQuorumRequest(topics=[topic])
        return await connection.ask(request, DescribeQuorumResponse)
    finally:
        connection.close()


def find_leader(nodes: Sequence[NodeProcess]) -> tuple[int, int] | None:
    """The id and the epoch of a leader that has committed, as it says itself."""
    for node in nodes:
        if node.process is None:
            continue
        try:
            answer = asyncio.run(_describe(Address("127.0.0.1", node.controller_port)))
        except ClientError:
            continue
        partition = answer.topics[0].partitions[0]
        if partition.error_code == 0 and partition.high_watermark > 0:
            return partition.leader_id, partition.leader_epoch
    return None


def wait_for_leader(
    nodes: Sequence[NodeProcess], *, above_epoch: int = -1, among: Collection[int] = range(100)
) -> tuple[int, int]:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        found = find_leader(nodes)
        if found is not None and found[1] > above_epoch and found[0] in among:
            return found
        logs = "\n".join(each.log.read_text() for each in nodes)
        assert time.monotonic() < deadline, f"no leader: {logs}"
        time.sleep(0.05)


def lag_of(nodes: Sequence[NodeProcess], replica_id: int) -> int | None:
    """How many records of the leader a replica lacks; None where nobody knows."""
    for node in nodes:
        if node.process is None:
            continue
        try:
            answer = asyncio.run(_describe(Address("127.0.0.1", node.controller_port)))
        except ClientError:
            continue
        partition = answer.topics[0].partitions[0]
        if partition.error_code == 0:
            replicas = [*partition.current_voters, *partition.observers]
            ends = {each.replica_id: each.log_end_offset for each in replicas}
            own = ends.get(partition.leader_id, 0)
            return own - ends[replica_id] if ends.get(replica_id, -1) >= 0 else None
    return None


def wait_until_caught_up(nodes: Sequence[NodeProcess], replica_id: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while lag_of(nodes, replica_id) != 0:
        assert time.monotonic() < deadline, f"{replica_id} lags: {lag_of(nodes, replica_id)}"
        time.sleep(0.05)


def wait_for_broker(node: NodeProcess, broker_id: int) -> None:
    """Until the node tells of the broker; it may have only just been started itself."""
    admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
    deadline = time.monotonic() + START_TIMEOUT_S
    while broker_id not in _brokers_of(admin):
        assert time.monotonic() < deadline, f"{broker_id} does not come"
        time.sleep(0.1)


def _brokers_of(admin: AdminClient) -> Collection[int]:
    try:
        return list(admin.list_topics(timeout=30).brokers)
    except KafkaException:
        return ()


def create_topics(node: NodeProcess, *names: str, partitions: int = 1) -> None:
    """They are there afterwards; one that an earlier attempt of the client made is as good."""
    admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
    for made in admin.create_topics([NewTopic(each, partitions, 1) for each in names]).values():
        try:
            made.result(30)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def topics_of(node: NodeProcess) -> set[str]:
    admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
    return set(admin.list_topics(timeout=30).topics)
