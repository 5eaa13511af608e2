"""controller.quorum.auto.join.enable (KIP-1186): controllers that make themselves voters, of Kafka
and of ours, under leaders of either."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.compat.cluster import (
    START_TIMEOUT_S,
    KafkaNodeProcess,
    NodeProcess,
    create_topics,
    describe_quorum,
    free_ports,
    topics_of,
    wait_for_leader,
    wait_until_caught_up,
)
from tests.compat.java_oracle import require
from tests.compat.test_quorum_cluster import QUICK, SMALL, bootstrap_of, running

JOINING = (*QUICK, "controller.quorum.auto.join.enable=true")


def make(
    kinds: Sequence[type[NodeProcess]], directory: Path
) -> tuple[list[NodeProcess], NodeProcess]:
    """Controllers, of which the first is formatted alone, and a broker."""
    ports = free_ports(len(kinds) + 1)
    bootstrap = bootstrap_of(ports[:1])
    controllers = [
        kind(directory / str(node_id), node_id, "controller", port, 0, (bootstrap, *JOINING))
        for node_id, (kind, port) in enumerate(zip(kinds, ports, strict=False), 1)
    ]
    broker = NodeProcess(directory / "9", 9, "broker", 0, ports[-1], (bootstrap, *QUICK, *SMALL))
    controllers[0].format("--standalone")
    for each in controllers[1:]:
        each.format("--no-initial-controllers")
    broker.format()
    return controllers, broker


def voters_of(nodes: Sequence[NodeProcess]) -> dict[int, bytes]:
    """The voters' directories by their ids, as the leader has them."""
    partition = describe_quorum(nodes)
    if partition is None:
        return {}
    return {each.replica_id: each.replica_directory_id for each in partition.current_voters}


def wait_for_topics(broker: NodeProcess, topics: set[str]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while topics_of(broker) != topics:
        assert time.monotonic() < deadline, topics_of(broker)
        time.sleep(0.05)


def wait_for_voters(nodes: Sequence[NodeProcess], *ids: int) -> dict[int, bytes]:
    deadline = time.monotonic() + START_TIMEOUT_S
    while set(found := voters_of(nodes)) != set(ids):
        logs = "\n".join(each.log.read_text() for each in nodes)
        assert time.monotonic() < deadline, f"{set(found)} vote: {logs}"
        time.sleep(0.05)
    return found


@pytest.mark.parametrize(
    "kinds",
    [
        (NodeProcess, NodeProcess, KafkaNodeProcess),
        (KafkaNodeProcess, NodeProcess, NodeProcess),
    ],
    ids=["ours leads", "Kafka leads"],
)
def test_controllers_become_voters_one_by_one_and_take_over(
    kinds: Sequence[type[NodeProcess]], tmp_path: Path
) -> None:
    require("java")
    controllers, broker = make(kinds, tmp_path)
    with running([*controllers, broker]):
        controllers[0].start()
        broker.start()
        broker.wait_until_serving()
        create_topics(broker, "before")
        for each in controllers[1:]:
            each.start()
        wait_for_voters(controllers, 1, 2, 3)
        for node_id in (2, 3):
            wait_until_caught_up(controllers, node_id)
        _, epoch = wait_for_leader(controllers)
        controllers[0].kill()
        wait_for_leader(controllers[1:], above_epoch=epoch, among={2, 3})
        create_topics(broker, "after")
        wait_for_topics(broker, {"before", "after"})


def test_one_that_lost_its_disk_takes_the_place_of_its_former_self(tmp_path: Path) -> None:
    controllers, broker = make((NodeProcess, NodeProcess, NodeProcess), tmp_path)
    with running([*controllers, broker]):
        for each in (*controllers, broker):
            each.start()
        before = wait_for_voters(controllers, 1, 2, 3)
        broker.wait_until_serving()
        lost = controllers[2]
        lost.kill()
        shutil.rmtree(lost.directory / "data")
        lost.format("--no-initial-controllers")
        lost.start()
        deadline = time.monotonic() + START_TIMEOUT_S
        while (after := voters_of(controllers)).get(3) in (None, before[3]):
            assert time.monotonic() < deadline, lost.log.read_text()
            time.sleep(0.05)
        assert set(after) == {1, 2, 3}
        wait_until_caught_up(controllers, 3)
        end = leader_end(controllers)
        time.sleep(1)  # in which it would have asked several times
        assert leader_end(controllers) == end, "it asks though it votes"
        create_topics(broker, "afterwards")


def leader_end(nodes: Sequence[NodeProcess]) -> int:
    """Where the leader's log ends, which grows by every change of voters."""
    partition = describe_quorum(nodes)
    assert partition is not None
    ends = {each.replica_id: each.log_end_offset for each in partition.current_voters}
    return ends[partition.leader_id]
