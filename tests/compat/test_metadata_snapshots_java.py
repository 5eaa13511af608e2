"""A node's snapshots of its metadata, read by Kafka's dump tool and metadata shell."""

import subprocess
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_oracle import classpath, require

SETTINGS = (
    "metadata.log.max.record.bytes.between.snapshots=1500",
    "metadata.max.retention.bytes=0",
    "num.partitions=2",
)


def java(main_class: str, *arguments: str) -> str:
    ran = subprocess.run(
        ["java", "-XX:TieredStopAtLevel=1", "-cp", classpath(), main_class, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Exception" not in ran.stdout + ran.stderr
    return ran.stdout


def create_topics(broker: BrokerProcess, names: list[str]) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    made = admin.create_topics([NewTopic(each, config={"retention.ms": "77"}) for each in names])
    for future in made.values():
        future.result(30)


def snapshot_files(directory: Path) -> list[Path]:
    return sorted((directory / "data" / "__cluster_metadata-0").glob("*.checkpoint"))


def shell_until(snapshot: Path, path: str, expected: str) -> str:
    """What the shell finds at a path. It may look before it has loaded the snapshot."""
    shown = ""
    for _ in range(5):
        shown = java(
            "org.apache.kafka.shell.MetadataShell", "--snapshot", str(snapshot), "cat", path
        )
        if expected in shown:
            break
    return shown


def test_kafka_reads_the_snapshot_and_the_node_comes_back_from_it(tmp_path: Path) -> None:
    require("java")
    names = [f"topic-{index}" for index in range(12)]
    broker = BrokerProcess(tmp_path / "node", *SETTINGS)
    with broker:
        for each in names:
            create_topics(broker, [each])
    (snapshot,) = snapshot_files(tmp_path / "node")  # the log starts where it ends
    offset = int(snapshot.name[:20])
    assert offset > 30

    dumped = java(
        "org.apache.kafka.tools.DumpLogSegments",
        *("--cluster-metadata-decoder", "--deep-iteration", "--files", str(snapshot)),
    )
    for kind in ("SnapshotHeader", "KRaftVersion", "KRaftVoters", "SnapshotFooter"):
        assert kind in dumped
    assert '"type":"TOPIC_RECORD","version":0,"data":{"name":"topic-0"' in dumped
    assert '"name":"retention.ms","value":"77"' in dumped

    for path, expected in (
        ("/image/features/metadataVersion", "4.3-IV0"),
        ("/image/configs/TOPIC:topic-3/retention.ms", "77"),
    ):
        assert expected in shell_until(snapshot, path, expected)

    with broker:
        found = AdminClient({"bootstrap.servers": broker.bootstrap}).list_topics(timeout=30)
        assert set(names) <= set(found.topics)
        assert all(len(found.topics[each].partitions) == 2 for each in names)


def test_kafkas_shell_reads_the_log_as_it_is(tmp_path: Path) -> None:
    require("java")
    with BrokerProcess(tmp_path / "node") as broker:
        create_topics(broker, ["one"])
    directory = tmp_path / "node" / "data" / "__cluster_metadata-0"
    log = directory / f"{0:020d}.log"
    for path, expected in (
        ("/image/features/metadataVersion", "4.3-IV0"),
        ("/image/configs/TOPIC:one/retention.ms", "77"),
    ):
        assert expected in shell_until(log, path, expected)
