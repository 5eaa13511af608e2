"""`snakka format` beside Kafka's StorageTool: the same records, each read by the other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import require
from tests.compat.test_metadata_snapshots_java import create_topics, java

CLUSTER = "ZZZZZZZZQZGZZZZZZZZZZg"
VOTERS = "1@127.0.0.1:9093:JEXY6aqzQY-32P5TStzaFg,2@127.0.0.1:9094:MvDxzVmcRsaTz33bUuRU6A"
CREDENTIAL = 'SCRAM-SHA-256=[name=bob,iterations=8192,salt="N3E=",saltedpassword="YCE="]'
CONTROLLER = "process.roles=controller\nlisteners=CONTROLLER://127.0.0.1:9093\n"
BOTH = (
    "process.roles=broker,controller\n"
    "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:19097\n"
)


def properties(directory: Path, roles: str, *more: str) -> Path:
    directory.mkdir()
    path = directory / "server.properties"
    lines = (
        "node.id=1",
        "controller.listener.names=CONTROLLER",
        f"log.dirs={directory}/data",
        *more,
    )
    path.write_text(roles + "\n".join(lines) + "\n")
    return path


def kafka_format(config: Path, *arguments: str) -> None:
    java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(config), *arguments)


def snakka_format(config: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "snakka", "format", "-t", CLUSTER, "-c", str(config)]
    subprocess.run([*command, *arguments], check=True, capture_output=True)


def dumped(directory: Path) -> list[str]:
    """All records of both files, without times and checksums."""
    files = (
        directory / "data" / "bootstrap.checkpoint",
        directory / "data" / "__cluster_metadata-0" / f"{0:020d}-0000000000.checkpoint",
    )
    text = java(
        "org.apache.kafka.tools.DumpLogSegments",
        *("--cluster-metadata-decoder", "--deep-iteration", "--files"),
        ",".join(str(each) for each in files if each.exists()),
    ).replace(str(directory), "")
    return re.sub(r"(CreateTime|crc|lastContainedLogTimestamp\"): ?\d+", "", text).splitlines()


@pytest.mark.parametrize(
    ("setting", "arguments"),
    [
        ("", ["-I", VOTERS, "-S", CREDENTIAL]),
        ("", ["-N", "-r", "3.7-IV4"]),
        ("controller.quorum.voters=1@127.0.0.1:9093", ["-f", "group.version=0"]),
    ],
)
def test_the_files_hold_what_kafkas_tool_writes(
    tmp_path: Path, setting: str, arguments: list[str]
) -> None:
    require("java")
    more = [setting or "controller.quorum.bootstrap.servers=127.0.0.1:9093"]
    ours = properties(tmp_path / "ours", CONTROLLER, *more)
    theirs = properties(tmp_path / "theirs", CONTROLLER, *more)
    kafka_format(theirs, *arguments)
    snakka_format(ours, *arguments)
    assert dumped(ours.parent) == dumped(theirs.parent)
    info = java("kafka.tools.StorageTool", "info", "-c", str(ours))
    assert f"cluster.id={CLUSTER}" in info


def test_a_node_serves_what_kafka_formatted(tmp_path: Path) -> None:
    require("java")
    config = properties(
        tmp_path / "node", BOTH, "controller.quorum.bootstrap.servers=127.0.0.1:19097"
    )
    kafka_format(config, "--standalone", "-r", "4.1-IV0")
    node = BrokerProcess(tmp_path / "node", "controller.quorum.bootstrap.servers=127.0.0.1:19097")
    with node:
        create_topics(node, ["made"])
    log = tmp_path / "node" / "data" / "__cluster_metadata-0" / f"{0:020d}.log"
    text = java(
        "org.apache.kafka.tools.DumpLogSegments",
        *("--cluster-metadata-decoder", "--deep-iteration", "--files", str(log)),
    )
    assert '"name":"metadata.version","featureLevel":26' in text
    assert '"name":"made"' in text
