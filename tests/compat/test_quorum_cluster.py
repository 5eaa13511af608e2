"""Metadata quorums of several processes: ours, and ours together with Apache Kafka's."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from tests.compat.cluster import (
    CLUSTER,
    START_TIMEOUT_S,
    KafkaNodeProcess,
    NodeProcess,
    create_topics,
    find_leader,
    free_ports,
    topics_of,
    wait_for_broker,
    wait_for_leader,
    wait_until_caught_up,
)
from tests.compat.java_oracle import require
from tests.compat.java_tools import JavaTools
from tests.compat.test_metadata_snapshots_java import java

DIRECTORIES = ("JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A", "07R5amHmR32VDA6jHkGbTA")
QUICK = ("controller.quorum.election.timeout.ms=400", "controller.quorum.fetch.timeout.ms=1000")
SMALL = ("offsets.topic.replication.factor=1", "transaction.state.log.replication.factor=1")


@contextmanager
def running(nodes: Sequence[NodeProcess]) -> Iterator[None]:
    try:
        yield
    finally:
        for node in nodes:
            node.kill()


def bootstrap_of(ports: Sequence[int]) -> str:
    return "controller.quorum.bootstrap.servers=" + ",".join(f"127.0.0.1:{p}" for p in ports)


def initial_controllers(ports: Sequence[int]) -> str:
    return ",".join(
        f"{index + 1}@127.0.0.1:{port}:{directory}"
        for index, (port, directory) in enumerate(zip(ports, DIRECTORIES, strict=True))
    )


def test_a_killed_leader_is_replaced_and_what_was_committed_is_there(tmp_path: Path) -> None:
    controllers, brokers = free_ports(3), free_ports(3)
    voters = ",".join(f"{i + 1}@127.0.0.1:{port}" for i, port in enumerate(controllers))
    nodes = [
        NodeProcess(
            tmp_path / str(i + 1),
            i + 1,
            "broker,controller",
            controllers[i],
            brokers[i],
            (f"controller.quorum.voters={voters}", *QUICK, *SMALL),
        )
        for i in range(3)
    ]
    with running(nodes):
        for node in nodes:
            node.format()
            node.start()
        for node in nodes:
            node.wait_until_serving()
        leader_id, epoch = wait_for_leader(nodes)
        leader = nodes[leader_id - 1]
        others = [each for each in nodes if each is not leader]
        create_topics(others[0], "before")  # forwarded to the leader
        leader.kill()
        next_id, _ = wait_for_leader(others, above_epoch=epoch)
        assert next_id != leader_id
        create_topics(others[1], "after")
        assert all({"before", "after"} <= topics_of(each) for each in others)
        leader.start()
        wait_until_caught_up(nodes, leader_id)
        # The leader goes in good order: it hands over, and nobody waits for a timeout.
        leader_id, epoch = wait_for_leader(nodes)
        nodes[leader_id - 1].stop()
        wait_for_leader(nodes, above_epoch=epoch)


def test_kafkas_tools_describe_add_and_remove_our_voters(tmp_path: Path) -> None:
    require("java")
    ports = free_ports(5)
    bootstrap = bootstrap_of(ports[:1])
    first = NodeProcess(
        tmp_path / "1", 1, "broker,controller", ports[0], ports[3], (bootstrap, *QUICK, *SMALL)
    )
    second = NodeProcess(tmp_path / "2", 2, "controller", ports[1], 0, (bootstrap, *QUICK))
    joining = (bootstrap, *QUICK, "controller.quorum.auto.join.enable=true")
    third = NodeProcess(tmp_path / "3", 3, "controller", ports[2], 0, joining)
    broker = NodeProcess(tmp_path / "4", 4, "broker", 0, ports[4], (bootstrap, *QUICK, *SMALL))
    nodes = [first, second, third, broker]
    first.format("--standalone")
    for each in (second, third):
        each.format("--no-initial-controllers")
    broker.format()
    with running(nodes):
        for each in (first, second, broker):
            each.start()
        for each in (first, second, broker):
            each.wait_until_serving()
        with JavaTools(broker) as tools:
            wait_until_caught_up(nodes, 2)
            status = tools.run("MetadataQuorumCommand", "describe", "--status")
            assert f"ClusterId:              {CLUSTER}" in status
            assert "LeaderId:               1" in status
            assert '"id": 2' in status.partition("CurrentObservers")[2]
            replication = tools.run("MetadataQuorumCommand", "describe", "--replication")
            roles = {line.split()[0]: line.split()[-1] for line in replication.splitlines()[1:]}
            assert roles == {"1": "Leader", "2": "Observer", "4": "Observer"}

            add = ("--command-config", str(second.config), "add-controller")
            assert "Added controller 2" in tools.run("MetadataQuorumCommand", *add)
            third.start()  # which asks by itself
            wait_until_voter(tools, 3)
            voters = voters_in(tools.run("MetadataQuorumCommand", "describe", "--status"))
            assert voters == {1, 2, 3}
            directory = (second.directory / "data" / "meta.properties").read_text()
            directory_id = directory.partition("directory.id=")[2].split()[0]
            remove = ("--controller-id", "2", "--controller-directory-id", directory_id)
            tools.run("MetadataQuorumCommand", "remove-controller", *remove)
            voters = voters_in(tools.run("MetadataQuorumCommand", "describe", "--status"))
            assert voters == {1, 3}

            features = tools.run("FeatureCommand", "describe")
            levels = {line.split()[1]: line.split()[-3] for line in features.splitlines() if line}
            assert "metadata.version" in levels
            assert "kraft.version" in features
            tools.run("FeatureCommand", "downgrade", "--feature", "share.version=0")
        controller = Controller(first.controller)
        with JavaTools(controller, "--bootstrap-controller") as tools:
            assert voters_in(tools.run("MetadataQuorumCommand", "describe", "--status")) == {1, 3}


class Controller:
    """An address that the tools are given as a controller's."""

    def __init__(self, address: str) -> None:
        self.bootstrap = address


def voters_in(status: str) -> set[int]:
    voters = status.partition("CurrentVoters:")[2].partition("CurrentObservers:")[0]
    return {int(each.split(",")[0]) for each in voters.split('"id": ')[1:]}


def wait_until_voter(tools: JavaTools, replica_id: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if replica_id in voters_in(tools.run("MetadataQuorumCommand", "describe", "--status")):
            return
    pytest.fail(f"{replica_id} does not become a voter")


def test_kafkas_controllers_and_ours_are_one_quorum(tmp_path: Path) -> None:
    """Each leads in turn, and has what was committed under the other."""
    require("java")
    ports = free_ports(4)
    bootstrap = bootstrap_of(ports[:3])
    kafka = KafkaNodeProcess(tmp_path / "1", 1, "controller", ports[0], 0, (bootstrap, *QUICK))
    ours = [
        NodeProcess(tmp_path / str(i), i, "controller", ports[i - 1], 0, (bootstrap, *QUICK))
        for i in (2, 3)
    ]
    broker = NodeProcess(tmp_path / "4", 4, "broker", 0, ports[3], (bootstrap, *QUICK, *SMALL))
    controllers = [kafka, *ours]
    for node in controllers:
        node.format("-I", initial_controllers(ports[:3]))
    broker.format()
    with running([*controllers, broker]):
        for node in (*controllers, broker):
            node.start()
        broker.wait_until_serving()
        create_topics(broker, "first")
        for each in (1, 2, 3):
            wait_until_caught_up(controllers, each)

        # What is committed now is on Kafka's node and one of ours, which then goes: of those that
        # are left only Kafka's can lead.
        ours[1].kill()
        create_topics(broker, "without-3")
        ours[0].kill()
        ours[1].start()
        wait_for_leader(controllers, among={kafka.node_id})
        create_topics(broker, "led-by-kafka")
        wait_until_caught_up(controllers, 3)

        _, epoch = wait_for_leader(controllers)
        ours[0].start()
        wait_until_caught_up(controllers, 2)
        kafka.kill()
        wait_for_leader(controllers, above_epoch=epoch, among={2, 3})
        create_topics(broker, "led-by-us")
        assert {"first", "without-3", "led-by-kafka", "led-by-us"} <= topics_of(broker)

        kafka.start()
        wait_until_caught_up(controllers, 1)
        assert find_leader(controllers) is not None
    log = tmp_path / "1" / "data" / "__cluster_metadata-0" / f"{0:020d}.log"
    dumped = java(
        "org.apache.kafka.tools.DumpLogSegments",
        *("--cluster-metadata-decoder", "--deep-iteration", "--files", str(log)),
    )
    for topic in ("first", "without-3", "led-by-kafka", "led-by-us"):
        assert f'"name":"{topic}"' in dumped


def test_kafkas_broker_serves_in_a_cluster_that_we_control(tmp_path: Path) -> None:
    require("java")
    ports = free_ports(3)
    settings = (bootstrap_of(ports[:1]), *QUICK, *SMALL, "transaction.state.log.min.isr=1")
    ours = NodeProcess(tmp_path / "1", 1, "broker,controller", ports[0], ports[1], settings)
    kafka = KafkaNodeProcess(tmp_path / "2", 2, "broker", 0, ports[2], settings)
    ours.format("--standalone")
    kafka.format()
    with running([ours, kafka]):
        ours.start()
        ours.wait_until_serving()
        kafka.start()
        wait_for_broker(ours, kafka.node_id)
        create_topics(kafka, "made", partitions=4)  # it forwards that to us
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
        partitions = admin.list_topics(timeout=30).topics["made"].partitions
        assert {each.leader for each in partitions.values()} == {1, 2}
        producer = Producer(
            {"bootstrap.servers": ours.bootstrap, "enable.idempotence": True, "log_level": 0}
        )
        refusals: list[object] = []
        for index in range(40):
            producer.produce(
                "made",
                str(index),
                partition=index % 4,
                on_delivery=lambda error, _: refusals.append(error),
            )
        assert producer.flush(30) == 0
        assert refusals == [None] * 40
