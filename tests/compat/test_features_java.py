"""Feature levels, as kafka-features describes, upgrades, downgrades and disables them."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.cluster import (
    START_TIMEOUT_S,
    KafkaNodeProcess,
    NodeProcess,
    create_topics,
    free_ports,
    topics_of,
    wait_for_leader,
    wait_until_caught_up,
)
from tests.compat.java_oracle import require
from tests.compat.java_tools import JavaTools
from tests.compat.test_quorum_cluster import QUICK, SMALL, bootstrap_of, running, voters_in

FEATURES = "FeatureCommand"


def levels(tools: JavaTools) -> dict[str, str]:
    """The level in force of each feature."""
    described = tools.run(FEATURES, "describe")
    found = re.findall(r"Feature: (\S+)\s.*?FinalizedVersionLevel: (\S+)\s", described)
    assert found, described
    return dict(found)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[NodeProcess]:
    """One of the first release of Kafka 4."""
    require("java")
    ports = free_ports(2)
    settings = (bootstrap_of(ports[:1]), *SMALL)
    process = NodeProcess(tmp_path, 1, "broker,controller", ports[0], ports[1], settings)
    process.format("--standalone", "-r", "4.0-IV1")
    with running([process]):
        process.start()
        process.wait_until_serving()
        yield process


def test_levels_rise_and_fall_and_are_there_after_a_restart(node: NodeProcess) -> None:
    with JavaTools(node) as tools:
        assert levels(tools) == {
            "eligible.leader.replicas.version": "0",
            "group.version": "1",
            "kraft.version": "1",
            "metadata.version": "4.0-IV1",
            "share.version": "0",
            "streams.version": "0",
            "transaction.version": "0",
        }
        tools.run(FEATURES, "upgrade", "--release-version", "4.3", "--dry-run")
        assert levels(tools)["metadata.version"] == "4.0-IV1"
        tools.run(FEATURES, "upgrade", "--release-version", "4.3")
        newest = {
            "eligible.leader.replicas.version": "1",
            "group.version": "1",
            "kraft.version": "1",
            "metadata.version": "4.3-IV0",
            "share.version": "1",
            "streams.version": "1",
            "transaction.version": "2",
        }
        assert levels(tools) == newest
        tools.run(FEATURES, "downgrade", "--feature", "transaction.version=1")
        tools.run(FEATURES, "downgrade", "--unsafe", "--feature", "share.version=0")
        tools.run(FEATURES, "disable", "--feature", "streams.version")
        changed = {**newest, "transaction.version": "1", "share.version": "0"}
        changed["streams.version"] = "0"
        assert levels(tools) == changed
    node.stop()
    node.start()
    node.wait_until_serving()
    with JavaTools(node) as tools:
        assert levels(tools) == changed


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("downgrade", "--metadata", "3.9"), "it might delete metadata information"),
        (("downgrade", "--unsafe", "--metadata", "3.9"), "Unsafe metadata downgrade is not"),
        (("upgrade", "--feature", "group.version=9"), "only supports versions 0-1"),
        (("upgrade", "--feature", "no.such=1"), "does not support this feature"),
        (("downgrade", "--feature", "kraft.version=0"), "Can't downgrade the version"),
        (("upgrade", "--metadata", "3.9"), "Can't downgrade the version"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    node: NodeProcess, arguments: tuple[str, ...], reason: str
) -> None:
    with JavaTools(node) as tools:
        before = levels(tools)
        assert reason in tools.refusal(FEATURES, *arguments)
        assert levels(tools) == before


def test_configured_voters_of_both_kinds_are_written_into_the_log(tmp_path: Path) -> None:
    """Afterwards voters can be removed, and Kafka's controller still goes along."""
    require("java")
    ports = free_ports(4)
    voters = ",".join(f"{i + 1}@127.0.0.1:{port}" for i, port in enumerate(ports[:3]))
    settings = (f"controller.quorum.voters={voters}", *QUICK)
    kafka = KafkaNodeProcess(tmp_path / "1", 1, "controller", ports[0], 0, settings)
    ours = [
        NodeProcess(tmp_path / str(i), i, "controller", ports[i - 1], 0, settings) for i in (2, 3)
    ]
    broker = NodeProcess(tmp_path / "4", 4, "broker", 0, ports[3], (*settings, *SMALL))
    nodes = [kafka, *ours, broker]
    for each in nodes:
        each.format()
    with running(nodes), JavaTools(broker) as tools:
        for each in (*ours, broker):
            each.start()
        wait_for_leader(ours)
        kafka.start()
        broker.wait_until_serving()
        wait_until_caught_up([kafka, *ours], 1)
        assert levels(tools)["kraft.version"] == "0"
        upgrade_kraft_version(tools)
        assert voters_in(tools.run("MetadataQuorumCommand", "describe", "--status")) == {1, 2, 3}
        leader_id, _ = wait_for_leader(ours)
        assert leader_id != kafka.node_id
        create_topics(broker, "afterwards")
        wait_until_caught_up([kafka, *ours], 1)
        meta = (kafka.directory / "data" / "meta.properties").read_text()
        directory_id = meta.partition("directory.id=")[2].split()[0]
        remove = ("--controller-id", "1", "--controller-directory-id", directory_id)
        tools.run("MetadataQuorumCommand", "remove-controller", *remove)
        assert voters_in(tools.run("MetadataQuorumCommand", "describe", "--status")) == {2, 3}
        assert topics_of(broker) == {"afterwards"}


def upgrade_kraft_version(tools: JavaTools) -> None:
    """Voters tell a new leader who they are in their own time."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while levels(tools)["kraft.version"] == "0":
        assert time.monotonic() < deadline
        said = tools.refusal(FEATURES, "upgrade", "--feature", "kraft.version=1")
        assert "upgraded to 1" in said or "not all of the voters support it" in said
