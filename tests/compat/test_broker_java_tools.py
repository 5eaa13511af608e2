"""Apache Kafka's own tools, as `kafka-*.sh` start them, against a broker process."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_tools import CONFIG_COMMAND, JavaTools

DUMP = ("DumpLogSegments", "--cluster-metadata-decoder", "--deep-iteration")
REASSIGN = "reassign.ReassignPartitionsCommand"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaTools]:
    at_once = "group.initial.rebalance.delay.ms=0"
    with (
        BrokerProcess(tmp_path_factory.mktemp("broker"), at_once) as broker,
        JavaTools(broker) as started,
    ):
        yield started


def test_topics_produce_consume_groups_and_offsets(tools: JavaTools) -> None:
    created = tools.run(
        "TopicCommand",
        *("--create", "--topic", "orders", "--partitions", "2", "--config", "retention.ms=5000"),
    )
    assert "Created topic orders." in created

    described = tools.run("TopicCommand", "--describe", "--topic", "orders")
    assert "PartitionCount: 2" in described
    assert "Configs: retention.ms=5000" in described
    assert described.count("Leader: 1") == 2

    lines = [f"key{index}:value {index}" for index in range(20)]
    tools.run(
        "ConsoleProducer",
        *("--topic", "orders", "--reader-property", "parse.key=true"),
        *("--reader-property", "key.separator=:"),
        text="\n".join(lines),
    )
    consumed = tools.run(
        "consumer.ConsoleConsumer",
        *("--topic", "orders", "--from-beginning", "--max-messages", "20", "--group", "java"),
        *("--formatter-property", "print.key=true", "--formatter-property", "key.separator=:"),
    )
    assert sorted(consumed.splitlines()) == sorted(lines)

    assert "Elr: \t" in described  # of DescribeTopicPartitions
    directories = tools.run("LogDirsCommand", "--describe", "--topic-list", "orders")
    assert '"partition":"orders-1"' in directories

    offsets = tools.run("GetOffsetShell", "--topic", "orders").split()
    ends = {line.rpartition(":")[0]: int(line.rpartition(":")[2]) for line in offsets}
    assert sum(ends.values()) == 20

    group = tools.run("consumer.group.ConsumerGroupCommand", "--describe", "--group", "java")
    rows = [line.split() for line in group.splitlines() if line.startswith("java")]
    assert sum(int(row[3]) for row in rows) == 20
    assert [row[5] for row in rows] == ["0", "0"]
    listed = tools.run("consumer.group.ConsumerGroupCommand", "--list")
    assert "java" in listed.split()

    tools.run("TopicCommand", "--alter", "--topic", "orders", "--partitions", "3")
    tools.run("TopicCommand", "--delete", "--topic", "orders")
    assert "orders" not in tools.run("TopicCommand", "--list").split()


def test_a_topic_that_cannot_be_is_refused_with_the_reason(tools: JavaTools) -> None:
    for arguments, reason in [
        (["--replication-factor", "2"], "target replication factor of 2 cannot be reached"),
        (["--config", "retention.ms=soon"], "retention.ms"),
    ]:
        printed = tools.refusal("TopicCommand", "--create", "--topic", "bad", *arguments)
        assert reason.lower() in printed.lower()


def test_kafkas_dump_reads_the_metadata_log_and_its_first_snapshot(
    tmp_path: Path, tools: JavaTools
) -> None:
    with BrokerProcess(tmp_path / "dumped") as broker:
        where = ("--bootstrap-server", broker.bootstrap)
        wanted = ("--create", "--topic", "dumped", "--config", "retention.ms=7")
        tools.run_bare("TopicCommand", *where, *wanted)
    directory = tmp_path / "dumped" / "data" / "__cluster_metadata-0"
    first = f"{0:020d}"
    log, snapshot = (
        tools.run_bare(*DUMP, "--files", str(directory / name))
        for name in (f"{first}.log", f"{first}-0000000000.checkpoint")
    )
    assert "Exception" not in log + snapshot
    for kind in ("LeaderChange", "KRaftVoters", "FEATURE_LEVEL_RECORD", "REGISTER_BROKER_RECORD"):
        assert kind in log
    assert '"type":"TOPIC_RECORD","version":0,"data":{"name":"dumped"' in log
    assert '"type":"CONFIG_RECORD"' in log
    for kind in ("SnapshotHeader", "KRaftVersion", "KRaftVoters", "SnapshotFooter"):
        assert kind in snapshot


def test_records_are_deleted_up_to_an_offset(tools: JavaTools, tmp_path: Path) -> None:
    produce(tools, "shortened", 10)
    wanted = tmp_path / "deleted.json"
    partition = {"topic": "shortened", "partition": 0, "offset": 4}
    wanted.write_text(json.dumps({"partitions": [partition], "version": 1}))
    deleted = tools.run("DeleteRecordsCommand", "--offset-json-file", str(wanted))
    assert "low_watermark: 4" in deleted
    earliest = tools.run("GetOffsetShell", "--topic", "shortened", "--time", "earliest")
    assert earliest.strip() == "shortened:0:4"


def test_configs_of_topics_and_brokers(tools: JavaTools) -> None:
    produce(tools, "configured", 1)
    topic = ("--entity-type", "topics", "--entity-name", "configured")
    tools.run(CONFIG_COMMAND, *topic, "--alter", "--add-config", "retention.ms=7")
    described = tools.run(CONFIG_COMMAND, *topic, "--describe")
    assert "retention.ms=7" in described
    assert "DYNAMIC_TOPIC_CONFIG:retention.ms=7" in described  # pitfall 36
    tools.run(CONFIG_COMMAND, *topic, "--alter", "--delete-config", "retention.ms")
    assert "retention.ms=7" not in tools.run(CONFIG_COMMAND, *topic, "--describe")
    broker = ("--entity-type", "brokers", "--entity-name", "1", "--describe", "--all")
    assert "message.max.bytes=1048588" in tools.run(CONFIG_COMMAND, *broker)


def test_leaders_and_reassignments_of_one_node(tools: JavaTools, tmp_path: Path) -> None:
    produce(tools, "assigned", 1)
    partition = ("--topic", "assigned", "--partition", "0")
    elected = tools.run("LeaderElectionCommand", "--election-type", "preferred", *partition)
    assert "Valid replica already elected for partitions assigned-0" in elected

    wanted = tmp_path / "reassigned.json"
    place = {"topic": "assigned", "partition": 0, "replicas": [1]}
    wanted.write_text(json.dumps({"partitions": [place], "version": 1}))
    file = ("--reassignment-json-file", str(wanted))
    assert "Successfully started" in tools.run(REASSIGN, *file, "--execute")
    assert "Reassignment of partition assigned-0 is completed." in tools.run(
        REASSIGN, *file, "--verify"
    )
    assert "No partition reassignments found." in tools.run(REASSIGN, "--list")


def test_what_the_verifiable_producer_sends_its_consumer_gets(tools: JavaTools) -> None:
    counts = ("--topic", "verified", "--max-messages", "300")
    sent = events(
        tools.run_alone("VerifiableProducer", *counts, "--acks", "-1", "--value-prefix", "7")
    )
    values = [each["value"] for each in sent if each["name"] == "producer_send_success"]
    assert values == [f"7.{index}" for index in range(300)]
    for protocol in ("classic", "consumer"):
        group = ("--group-id", f"verifying-{protocol}", "--group-protocol", protocol)
        consumed = tools.run(
            "VerifiableConsumer", *counts, *group, "--reset-policy", "earliest", "--verbose"
        )
        records = [each for each in events(consumed) if each["name"] == "record_data"]
        assert [each["value"] for each in records] == values
        (committed, *_) = reversed(
            [each for each in events(consumed) if each["name"] == "offsets_committed"]
        )
        assert committed["success"] is True
        assert committed["offsets"] == [{"topic": "verified", "partition": 0, "offset": 300}]


def test_the_message_copier_copies_exactly_once_though_it_aborts(tools: JavaTools) -> None:
    produce(tools, "copied", 500)
    copied = tools.run_bare(
        "TransactionalMessageCopier",
        *("--broker-list", tools.bootstrap[1], "--transactional-id", "copier"),
        *("--input-topic", "copied", "--input-partition", "0", "--output-topic", "copies"),
        *("--consumer-group", "copying", "--transaction-size", "20", "--use-group-metadata"),
        "--enable-random-aborts",
    )
    assert events(copied)[-1]["remaining"] == 0
    committed = tools.run(
        "consumer.ConsoleConsumer",
        *("--topic", "copies", "--from-beginning", "--isolation-level", "read_committed"),
        *("--timeout-ms", "2000"),
    )
    assert committed.split() == [str(each) for each in range(500)]


def test_the_cluster_has_an_id(tools: JavaTools) -> None:
    assert "Cluster ID: " in tools.run_bare("ClusterTool", "cluster-id", *tools.bootstrap)


def test_performance_of_producer_and_consumer(tools: JavaTools) -> None:
    counts = ("--topic", "measured", "--num-records", "2000")
    sent = tools.run("ProducerPerformance", *counts, "--record-size", "100", "--throughput", "-1")
    assert "2000 records sent" in sent
    consumed = tools.run("ConsumerPerformance", *counts)
    assert consumed.strip().splitlines()[-1].split(", ")[4] == "2000"


def produce(tools: JavaTools, topic: str, count: int) -> None:
    tools.run(
        "ConsoleProducer", "--topic", topic, text="".join(f"{each}\n" for each in range(count))
    )


def events(printed: str) -> list[dict[str, Any]]:
    """What the verifiable clients tell: a JSON object a line."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
