"""A quorum of one on a real disk: it elects itself, commits what is submitted, and comes back."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from snakka.client.errors import UnreachableError
from snakka.metadata.image import Provenance
from snakka.node.election_file import QUORUM_STATE, read_election, write_election
from snakka.node.formatting import Identity, NotFormattedError, find_identity, format_alone
from snakka.node.metadata_follower import Committed
from snakka.node.metadata_log import METADATA_DIRECTORY, MetadataLog
from snakka.node.quorum_driver import QuorumDriver
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.schema import Response
from snakka.protocol.types import Uuid
from snakka.quorum.config import QuorumConfig
from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import LocalReplica, Quorum
from snakka.quorum.ready import Outbound
from snakka.quorum.replica import QuorumReplica
from snakka.quorum.voters import Endpoint, ReplicaKey
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.errors import CorruptFileError
from snakka.storage.open_files import OpenFiles

ENDPOINT = Endpoint("CONTROLLER", "127.0.0.1", 9093)


async def alone(outbound: Outbound) -> Response:
    raise UnreachableError(f"{outbound} is for nobody")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Node:
    """What a test sees of a running quorum."""

    def __init__(self) -> None:
        self.committed: list[bytes] = []
        self.led: list[int | None] = []
        self.leading = asyncio.Event()
        self.driver: QuorumDriver

    def on_committed(self, committed: Committed) -> None:
        self.committed += committed.values

    def on_snapshot(self, values: Iterator[bytes], last: Provenance) -> None:
        self.committed = list(values)

    def on_leadership(self, epoch: int | None) -> None:
        self.led.append(epoch)
        self.leading.set()


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[Node]:
    node = Node()
    disk = LocalDisk()
    identity = find_identity(disk, str(path), 1) or format_alone(
        disk, str(path), 1, ENDPOINT, rng=random.Random(1), now_ms=now_ms()
    )
    directory = f"{path}/{METADATA_DIRECTORY}"
    snapshots = SnapshotFiles(disk, directory)
    metadata_log, _ = MetadataLog.open(
        OpenFiles(disk),
        directory,
        LogConfig(),
        random.Random(1),
        snapshots=snapshots.ids,
        now_ms=now_ms,
    )
    election_path = f"{directory}/{QUORUM_STATE}"
    quorum = Quorum(
        local=LocalReplica(
            identity.cluster_id, ReplicaKey(1, identity.directory_id), "CONTROLLER", (ENDPOINT,)
        ),
        config=QuorumConfig(),
        log=metadata_log,
        snapshots=snapshots,
        rng=random.Random(1),
        election=read_election(disk, election_path),
    )
    node.driver = QuorumDriver(
        QuorumReplica(quorum, now_ms()),
        metadata_log,
        snapshots,
        disk,
        election_path,
        send=alone,
        now_ms=now_ms,
        on_committed=node.on_committed,
        on_snapshot=node.on_snapshot,
        on_leadership=node.on_leadership,
    )
    async with node.driver:
        await asyncio.wait_for(node.leading.wait(), 5)
        yield node


def test_it_leads_at_once_and_commits_in_order(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as node:
            assert node.led == [1]
            submissions = [node.driver.submit([b"%d" % i, b"%d!" % i]) for i in range(20)]
            await asyncio.gather(*submissions)
            assert node.committed == [each for i in range(20) for each in (b"%d" % i, b"%d!" % i)]

    asyncio.run(scenario())


def test_what_was_committed_comes_back_before_it_leads_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        epochs = []
        for life in range(3):
            async with running(tmp_path) as node:
                assert node.committed == [b"life %d" % i for i in range(life)]
                epochs += node.led
                await node.driver.submit([b"life %d" % life])
        assert len(epochs) == 3
        assert epochs == sorted(set(epochs), key=lambda epoch: epoch or 0)

    asyncio.run(scenario())


def test_a_directory_is_one_nodes(tmp_path: Path) -> None:
    disk = LocalDisk()
    assert find_identity(disk, str(tmp_path), 1) is None
    made = format_alone(disk, str(tmp_path), 1, ENDPOINT, rng=random.Random(1), now_ms=0)
    assert made.is_new
    expected = Identity(made.cluster_id, 1, made.directory_id, is_new=False)
    assert find_identity(disk, str(tmp_path), 1) == expected
    with pytest.raises(NotFormattedError, match=r"is of node\.id=1, not 2"):
        find_identity(disk, str(tmp_path), 2)


@pytest.mark.parametrize(
    "election",
    [
        ElectionState(),
        ElectionState(7, leader_id=3),
        ElectionState(8, voted=ReplicaKey(2, Uuid(b"directory-of-two"))),
    ],
)
def test_the_election_state_survives(tmp_path: Path, election: ElectionState) -> None:
    path = f"{tmp_path}/quorum-state"
    write_election(LocalDisk(), path, election)
    assert read_election(LocalDisk(), path) == election


def test_the_election_state_of_older_kafka_is_read(tmp_path: Path) -> None:
    path = tmp_path / "quorum-state"
    path.write_text(
        '{"clusterId":"","leaderId":1,"leaderEpoch":4,"votedId":2,"appliedOffset":0,'
        '"currentVoters":[{"voterId":1}],"data_version":0}'
    )
    expected = ElectionState(4, leader_id=1, voted=ReplicaKey(2))
    assert read_election(LocalDisk(), str(path)) == expected


@pytest.mark.parametrize("text", ["", "{", "[]", '{"leaderId":1}'])
def test_a_damaged_election_state_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "quorum-state"
    path.write_text(text)
    with pytest.raises(CorruptFileError, match="quorum-state"):
        read_election(LocalDisk(), str(path))


def test_snapshots_are_found_by_their_names_and_parts_are_dropped(tmp_path: Path) -> None:
    files = SnapshotFiles(LocalDisk(), str(tmp_path))
    first, second = OffsetAndEpoch(5, 1), OffsetAndEpoch(70, 3)
    for snapshot_id in (second, first):
        files.write(snapshot_id, 0, b"head")
        files.write(snapshot_id, 4, b"tail")
        files.complete(snapshot_id)
    files.write(OffsetAndEpoch(99, 3), 0, b"unfinished")
    again = SnapshotFiles(LocalDisk(), str(tmp_path))
    assert list(again.ids) == [first, second]
    assert bytes(again.read(second, 2, 100)) == b"adtail"
    assert again.find_size_bytes(first) == 8
    assert again.find_size_bytes(OffsetAndEpoch(99, 3)) is None
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "00000000000000000005-0000000001.checkpoint",
        "00000000000000000070-0000000003.checkpoint",
    ]
