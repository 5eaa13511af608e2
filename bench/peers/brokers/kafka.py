"""Apache Kafka: its jars from Maven, one node that is broker and controller."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.peers.peer import NotInstallableError, bytes_below
from tests.compat.cluster import CLUSTER, free_ports
from tests.compat.java_oracle import JARS, KAFKA, classpath

# As kafka-server-start.sh and kafka-run-class.sh set them.
JVM = (
    *("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"),
    *("-XX:MaxInlineLevel=15", "-Djava.awt.headless=true"),
)
# As config/server.properties of the distribution has them.
SETTINGS = (
    "num.network.threads=3",
    "num.io.threads=8",
    "socket.send.buffer.bytes=102400",
    "socket.receive.buffer.bytes=102400",
    "num.recovery.threads.per.data.dir=2",
    "offsets.topic.replication.factor=1",
    "share.coordinator.state.topic.replication.factor=1",
    "share.coordinator.state.topic.min.isr=1",
    "transaction.state.log.replication.factor=1",
    "transaction.state.log.min.isr=1",
)


class Kafka:
    name = "kafka"
    settings = "the JVM's options and server.properties of the distribution (1 GiB heap, G1)"
    keeps_files = True
    is_broker = True
    has_fixed_ports = False

    def install(self) -> str:
        try:
            classpath()
        except pytest.skip.Exception as error:
            raise NotInstallableError(str(error)) from error
        (found,) = ElementTree.parse(KAFKA).iterfind(".//{*}kafka.version")
        return found.text or ""

    def prepare(self, directory: Path, port: int) -> None:
        (controller_port,) = free_ports(1)
        lines = (
            "node.id=1",
            "process.roles=broker,controller",
            f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
            f"controller.quorum.bootstrap.servers=127.0.0.1:{controller_port}",
            "controller.listener.names=CONTROLLER",
            f"log.dirs={directory / 'data'}",
            *SETTINGS,
        )
        config = directory / "server.properties"
        config.write_text("\n".join(lines) + "\n")
        words = ("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(config))
        subprocess.run([*_java(), *words, "--standalone"], check=True, capture_output=True)

    def command(self, directory: Path, port: int) -> Sequence[str]:
        return [*_java(*JVM), "kafka.Kafka", str(directory / "server.properties")]

    def installed_bytes(self) -> int:
        return bytes_below(JARS)


def _java(*options: str) -> list[str]:
    return ["java", *options, "-cp", classpath()]
