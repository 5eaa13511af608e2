"""Apache Kafka's own tools, as `kafka-*.sh` start them, against a broker process."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import classpath, require

TOOLS = "org.apache.kafka.tools"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    require("java")
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as process:
        yield process


def tool(broker: BrokerProcess, name: str, *arguments: str, text: str = "") -> str:
    """What a tool prints; it must end well."""
    ran = subprocess.run(
        [
            *("java", "-XX:TieredStopAtLevel=1", "-cp", classpath(), f"{TOOLS}.{name}"),
            *("--bootstrap-server", broker.bootstrap, *arguments),
        ],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_topics_produce_consume_groups_and_offsets(broker: BrokerProcess) -> None:
    created = tool(
        broker,
        "TopicCommand",
        *("--create", "--topic", "orders", "--partitions", "2", "--config", "retention.ms=5000"),
    )
    assert "Created topic orders." in created

    described = tool(broker, "TopicCommand", "--describe", "--topic", "orders")
    assert "PartitionCount: 2" in described
    assert "Configs: retention.ms=5000" in described
    assert described.count("Leader: 1") == 2

    lines = [f"key{index}:value {index}" for index in range(20)]
    tool(
        broker,
        "ConsoleProducer",
        *("--topic", "orders", "--reader-property", "parse.key=true"),
        *("--reader-property", "key.separator=:"),
        text="\n".join(lines),
    )
    consumed = tool(
        broker,
        "consumer.ConsoleConsumer",
        *("--topic", "orders", "--from-beginning", "--max-messages", "20", "--group", "java"),
        *("--formatter-property", "print.key=true", "--formatter-property", "key.separator=:"),
    )
    assert sorted(consumed.splitlines()) == sorted(lines)

    assert "Elr: \t" in described  # of DescribeTopicPartitions
    directories = tool(broker, "LogDirsCommand", "--describe", "--topic-list", "orders")
    assert '"partition":"orders-1"' in directories

    offsets = tool(broker, "GetOffsetShell", "--topic", "orders").split()
    ends = {line.rpartition(":")[0]: int(line.rpartition(":")[2]) for line in offsets}
    assert sum(ends.values()) == 20

    group = tool(broker, "consumer.group.ConsumerGroupCommand", "--describe", "--group", "java")
    rows = [line.split() for line in group.splitlines() if line.startswith("java")]
    assert sum(int(row[3]) for row in rows) == 20
    assert [row[5] for row in rows] == ["0", "0"]
    listed = tool(broker, "consumer.group.ConsumerGroupCommand", "--list")
    assert "java" in listed.split()

    tool(broker, "TopicCommand", "--alter", "--topic", "orders", "--partitions", "3")
    tool(broker, "TopicCommand", "--delete", "--topic", "orders")
    assert "orders" not in tool(broker, "TopicCommand", "--list").split()


def test_a_topic_that_cannot_be_is_refused_with_the_reason(broker: BrokerProcess) -> None:
    for arguments, reason in [
        (["--replication-factor", "2"], "target replication factor of 2 cannot be reached"),
        (["--config", "retention.ms=soon"], "retention.ms"),
    ]:
        with pytest.raises(AssertionError) as refused:
            tool(broker, "TopicCommand", "--create", "--topic", "bad", *arguments)
        assert reason.lower() in str(refused.value).lower()


def test_kafkas_dump_reads_the_metadata_log_and_its_first_snapshot(tmp_path: Path) -> None:
    require("java")
    with BrokerProcess(tmp_path / "dumped") as broker:
        tool(broker, "TopicCommand", "--create", "--topic", "dumped", "--config", "retention.ms=7")
    directory = tmp_path / "dumped" / "data" / "__cluster_metadata-0"
    first = f"{0:020d}"
    dumped = {
        name: _dump(directory / name) for name in (f"{first}.log", f"{first}-0000000000.checkpoint")
    }
    log, snapshot = dumped.values()
    for kind in ("LeaderChange", "KRaftVoters", "FEATURE_LEVEL_RECORD", "REGISTER_BROKER_RECORD"):
        assert kind in log
    assert '"type":"TOPIC_RECORD","version":0,"data":{"name":"dumped"' in log
    assert '"type":"CONFIG_RECORD"' in log
    for kind in ("SnapshotHeader", "KRaftVersion", "KRaftVoters", "SnapshotFooter"):
        assert kind in snapshot


def _dump(file: Path) -> str:
    ran = subprocess.run(
        [
            *("java", "-XX:TieredStopAtLevel=1", "-cp", classpath(), f"{TOOLS}.DumpLogSegments"),
            *("--cluster-metadata-decoder", "--deep-iteration", "--files", str(file)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Exception" not in ran.stdout + ran.stderr
    return ran.stdout
