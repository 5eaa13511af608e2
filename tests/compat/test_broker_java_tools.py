"""Apache Kafka's own tools, as `kafka-*.sh` start them, against a broker process."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import JavaProgram
from tests.compat.java_tools import Tools, run_tool, running_tools

DUMP = ("DumpLogSegments", "--cluster-metadata-decoder", "--deep-iteration")
REASSIGN = "reassign.ReassignPartitionsCommand"


@pytest.fixture(scope="module")
def program() -> Iterator[JavaProgram]:
    with running_tools() as running:
        yield running


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory, program: JavaProgram) -> Iterator[Tools]:
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as process:
        yield Tools(process, program)


def test_topics_produce_consume_groups_and_offsets(tool: Tools) -> None:
    created = tool(
        "TopicCommand",
        *("--create", "--topic", "orders", "--partitions", "2", "--config", "retention.ms=5000"),
    )
    assert "Created topic orders." in created

    described = tool("TopicCommand", "--describe", "--topic", "orders")
    assert "PartitionCount: 2" in described
    assert "Configs: retention.ms=5000" in described
    assert described.count("Leader: 1") == 2

    lines = [f"key{index}:value {index}" for index in range(20)]
    tool(
        "ConsoleProducer",
        *("--topic", "orders", "--reader-property", "parse.key=true"),
        *("--reader-property", "key.separator=:"),
        text="\n".join(lines),
    )
    consumed = tool(
        "consumer.ConsoleConsumer",
        *("--topic", "orders", "--from-beginning", "--max-messages", "20", "--group", "java"),
        *("--formatter-property", "print.key=true", "--formatter-property", "key.separator=:"),
    )
    assert sorted(consumed.splitlines()) == sorted(lines)

    assert "Elr: \t" in described  # of DescribeTopicPartitions
    directories = tool("LogDirsCommand", "--describe", "--topic-list", "orders")
    assert '"partition":"orders-1"' in directories

    offsets = tool("GetOffsetShell", "--topic", "orders").split()
    ends = {line.rpartition(":")[0]: int(line.rpartition(":")[2]) for line in offsets}
    assert sum(ends.values()) == 20

    group = tool("consumer.group.ConsumerGroupCommand", "--describe", "--group", "java")
    rows = [line.split() for line in group.splitlines() if line.startswith("java")]
    assert sum(int(row[3]) for row in rows) == 20
    assert [row[5] for row in rows] == ["0", "0"]
    listed = tool("consumer.group.ConsumerGroupCommand", "--list")
    assert "java" in listed.split()

    tool("TopicCommand", "--alter", "--topic", "orders", "--partitions", "3")
    tool("TopicCommand", "--delete", "--topic", "orders")
    assert "orders" not in tool("TopicCommand", "--list").split()


def test_a_topic_that_cannot_be_is_refused_with_the_reason(tool: Tools) -> None:
    for arguments, reason in [
        (["--replication-factor", "2"], "target replication factor of 2 cannot be reached"),
        (["--config", "retention.ms=soon"], "retention.ms"),
    ]:
        printed = tool("TopicCommand", "--create", "--topic", "bad", *arguments, fails=True)
        assert reason.lower() in printed.lower()


def test_kafkas_dump_reads_the_metadata_log_and_its_first_snapshot(
    tmp_path: Path, program: JavaProgram
) -> None:
    with BrokerProcess(tmp_path / "dumped") as broker:
        tool = Tools(broker, program)
        tool("TopicCommand", "--create", "--topic", "dumped", "--config", "retention.ms=7")
    directory = tmp_path / "dumped" / "data" / "__cluster_metadata-0"
    first = f"{0:020d}"
    log, snapshot = (
        run_tool(program, *DUMP, "--files", str(directory / name))
        for name in (f"{first}.log", f"{first}-0000000000.checkpoint")
    )
    assert "Exception" not in log + snapshot
    for kind in ("LeaderChange", "KRaftVoters", "FEATURE_LEVEL_RECORD", "REGISTER_BROKER_RECORD"):
        assert kind in log
    assert '"type":"TOPIC_RECORD","version":0,"data":{"name":"dumped"' in log
    assert '"type":"CONFIG_RECORD"' in log
    for kind in ("SnapshotHeader", "KRaftVersion", "KRaftVoters", "SnapshotFooter"):
        assert kind in snapshot


def test_records_are_deleted_up_to_an_offset(tool: Tools, tmp_path: Path) -> None:
    produce(tool, "shortened", 10)
    wanted = tmp_path / "deleted.json"
    partition = {"topic": "shortened", "partition": 0, "offset": 4}
    wanted.write_text(json.dumps({"partitions": [partition], "version": 1}))
    deleted = tool("DeleteRecordsCommand", "--offset-json-file", str(wanted))
    assert "low_watermark: 4" in deleted
    earliest = tool("GetOffsetShell", "--topic", "shortened", "--time", "earliest")
    assert earliest.strip() == "shortened:0:4"


def test_configs_of_topics_and_brokers(tool: Tools) -> None:
    produce(tool, "configured", 1)
    topic = ("--entity-type", "topics", "--entity-name", "configured")
    tool("kafka.admin.ConfigCommand", *topic, "--alter", "--add-config", "retention.ms=7")
    described = tool("kafka.admin.ConfigCommand", *topic, "--describe")
    assert "retention.ms=7" in described
    assert "DYNAMIC_TOPIC_CONFIG:retention.ms=7" in described  # pitfall 36
    tool("kafka.admin.ConfigCommand", *topic, "--alter", "--delete-config", "retention.ms")
    assert "retention.ms=7" not in tool("kafka.admin.ConfigCommand", *topic, "--describe")
    broker = ("--entity-type", "brokers", "--entity-name", "1", "--describe", "--all")
    assert "message.max.bytes=1048588" in tool("kafka.admin.ConfigCommand", *broker)


def test_leaders_and_reassignments_of_one_node(tool: Tools, tmp_path: Path) -> None:
    produce(tool, "assigned", 1)
    partition = ("--topic", "assigned", "--partition", "0")
    elected = tool("LeaderElectionCommand", "--election-type", "preferred", *partition)
    assert "Valid replica already elected for partitions assigned-0" in elected

    wanted = tmp_path / "reassigned.json"
    place = {"topic": "assigned", "partition": 0, "replicas": [1]}
    wanted.write_text(json.dumps({"partitions": [place], "version": 1}))
    file = ("--reassignment-json-file", str(wanted))
    assert "Successfully started" in tool(REASSIGN, *file, "--execute")
    assert "Reassignment of partition assigned-0 is completed." in tool(REASSIGN, *file, "--verify")
    assert "No partition reassignments found." in tool(REASSIGN, "--list")


def test_what_the_verifiable_producer_sends_its_consumer_gets(tool: Tools) -> None:
    counts = ("--topic", "verified", "--max-messages", "300")
    sent = events(tool.alone("VerifiableProducer", *counts, "--acks", "-1", "--value-prefix", "7"))
    values = [each["value"] for each in sent if each["name"] == "producer_send_success"]
    assert values == [f"7.{index}" for index in range(300)]
    for protocol in ("classic", "consumer"):
        group = ("--group-id", f"verifying-{protocol}", "--group-protocol", protocol)
        consumed = tool.alone(
            "VerifiableConsumer", *counts, *group, "--reset-policy", "earliest", "--verbose"
        )
        records = [each for each in events(consumed) if each["name"] == "record_data"]
        assert [each["value"] for each in records] == values
        (committed, *_) = reversed(
            [each for each in events(consumed) if each["name"] == "offsets_committed"]
        )
        assert committed["success"] is True
        assert committed["offsets"] == [{"topic": "verified", "partition": 0, "offset": 300}]


def test_the_versions_of_the_apis_and_the_cluster(tool: Tools, program: JavaProgram) -> None:
    versions = tool("BrokerApiVersionsCommand")
    assert "Produce(0): 0 to 13 [usable: 13]" in versions
    assert "UNKNOWN" not in versions
    assert "Cluster ID: " in run_tool(program, "ClusterTool", "cluster-id", *tool.bootstrap)


def test_performance_of_producer_and_consumer(tool: Tools) -> None:
    counts = ("--topic", "measured", "--num-records", "2000")
    sent = tool("ProducerPerformance", *counts, "--record-size", "100", "--throughput", "-1")
    assert "2000 records sent" in sent
    consumed = tool("ConsumerPerformance", *counts)
    assert consumed.strip().splitlines()[-1].split(", ")[4] == "2000"


def produce(tool: Tools, topic: str, count: int) -> None:
    tool("ConsoleProducer", "--topic", topic, text="".join(f"{each}\n" for each in range(count)))


def events(printed: str) -> list[dict[str, Any]]:
    """What the verifiable clients tell: a JSON object a line."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
