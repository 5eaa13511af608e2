"""Metadata snapshots: when they are written, what they hold, and what goes once they are there."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from snakka.client.errors import UnreachableError
from snakka.metadata.image import EMPTY, MetadataImage, Provenance
from snakka.metadata.versions import default_levels
from snakka.node.election_file import QUORUM_STATE, read_election
from snakka.node.formatting import find_identity, format_alone
from snakka.node.metadata_follower import MetadataFollower
from snakka.node.metadata_log import METADATA_DIRECTORY, MetadataLog
from snakka.node.quorum_driver import QuorumDriver
from snakka.node.snapshot_files import SnapshotFiles
from snakka.node.snapshotting import (
    SnapshotConfig,
    SnapshotFacts,
    Snapshotting,
    is_oldest_due,
    snapshot_chunks,
)
from snakka.protocol.internal.frames import write_typed
from snakka.protocol.internal.metadata import ConfigRecord, FeatureLevelRecord, TopicRecord
from snakka.protocol.schema import Response
from snakka.protocol.types import Uuid
from snakka.quorum.config import QuorumConfig
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from snakka.quorum.quorum import LocalReplica, Quorum
from snakka.quorum.ready import Outbound
from snakka.quorum.replica import QuorumReplica
from snakka.quorum.voters import Endpoint, ReplicaKey
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.open_files import OpenFiles

ENDPOINT = Endpoint("CONTROLLER", "127.0.0.1", 9093)
UNLIMITED = SnapshotConfig(2**62, 0, -1, -1)
DAY_MS = 24 * 60 * 60 * 1000


async def alone(outbound: Outbound) -> Response:
    raise UnreachableError(f"{outbound} is for nobody")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.mark.parametrize(
    ("count", "log_bytes", "age_ms", "config", "expected"),
    [
        (1, 10_000, DAY_MS, SnapshotConfig(1, 1, 0, 0), False),  # the last one always stays
        (2, 100, 0, SnapshotConfig(1, 1, 299, -1), True),
        (2, 100, 0, SnapshotConfig(1, 1, 300, -1), False),
        (2, 100, 1001, SnapshotConfig(1, 1, -1, 1000), True),
        (2, 100, 1000, SnapshotConfig(1, 1, -1, 1000), False),
        (3, 10_000, DAY_MS, UNLIMITED, False),
    ],
)
def test_the_oldest_goes_by_size_and_age(
    count: int, log_bytes: int, age_ms: int, config: SnapshotConfig, *, expected: bool
) -> None:
    facts = [
        SnapshotFacts(OffsetAndEpoch(10 * each, 1), 100, now_ms() + DAY_MS * each)
        for each in range(count)
    ]
    now = facts[0].last_timestamp_ms + age_ms
    assert is_oldest_due(facts, log_bytes, config, now) is expected


class Node:
    """A quorum of one that writes snapshots."""

    def __init__(self) -> None:
        self.follower = MetadataFollower()
        self.files: SnapshotFiles
        self.log: MetadataLog
        self.driver: QuorumDriver

    async def write(self, *names: str) -> None:
        records = [TopicRecord(name=each, topic_id=Uuid(each.rjust(16).encode())) for each in names]
        await self.driver.submit([write_typed(each, 0) for each in records])

    @property
    def topics(self) -> set[str]:
        return set(self.follower.image.topics.ids)


@asynccontextmanager
async def running(path: Path, config: SnapshotConfig) -> AsyncIterator[Node]:
    node, disk, rng = Node(), LocalDisk(), random.Random(1)
    identity = find_identity(disk, str(path), 1) or format_alone(
        disk, str(path), 1, ENDPOINT, rng=rng, now_ms=now_ms()
    )
    directory = f"{path}/{METADATA_DIRECTORY}"
    node.files = SnapshotFiles(disk, directory)
    node.log, _ = MetadataLog.open(
        OpenFiles(disk),
        directory,
        LogConfig(segment_bytes=1024, is_deleted=False),
        rng,
        snapshots=node.files.ids,
        now_ms=now_ms,
    )
    quorum = Quorum(
        local=LocalReplica(
            identity.cluster_id, ReplicaKey(1, identity.directory_id), "CONTROLLER", (ENDPOINT,)
        ),
        config=QuorumConfig(),
        log=node.log,
        snapshots=node.files,
        rng=rng,
        election=read_election(disk, f"{directory}/{QUORUM_STATE}"),
    )
    replica = QuorumReplica(quorum, now_ms())
    leading = asyncio.Event()
    node.driver = QuorumDriver(
        replica,
        node.log,
        node.files,
        disk,
        f"{directory}/{QUORUM_STATE}",
        send=alone,
        now_ms=now_ms,
        on_committed=node.follower.on_committed,
        on_snapshot=node.follower.on_snapshot,
        on_leadership=lambda epoch: leading.set(),
    )
    snapshotting = Snapshotting(node.follower, replica, node.log, node.files, config, now_ms)
    async with node.driver, snapshotting.running():
        await asyncio.wait_for(leading.wait(), 5)
        if not node.follower.image.features:
            levels = default_levels().items()
            await node.driver.submit(
                [write_typed(FeatureLevelRecord(name=k, feature_level=v), 0) for k, v in levels]
            )
        yield node


async def until(node: Node, snapshots: int) -> None:
    """Waits for a snapshot of all that there is, with so many kept."""
    async with asyncio.timeout(5):
        while len(node.files.read_facts()) != snapshots or node.files.latest() is None:
            await asyncio.sleep(0.01)


def test_a_node_comes_back_from_its_newest_snapshot_without_the_log_before_it(
    tmp_path: Path,
) -> None:
    written = set()

    async def scenario() -> None:
        async with running(tmp_path, SnapshotConfig(2_000, 0, 0, -1)) as node:
            (first,) = (tmp_path / METADATA_DIRECTORY).glob("*.checkpoint")
            formatted = first.read_bytes()
            for index in range(200):
                await node.write(f"topic {index}")
                written.add(f"topic {index}")
            await until(node, snapshots=1)
            latest = node.files.latest()
            assert latest is not None
            assert latest.offset > 100
            assert node.log.start_offset == latest.offset
            assert node.log.log.segments[0].base_offset > 0
        # The removal of an older one may be undone by a crash.
        (tmp_path / METADATA_DIRECTORY / first.name).write_bytes(formatted)
        async with running(tmp_path, UNLIMITED) as node:
            assert node.log.starts_after == latest
            assert node.log.start_offset == latest.offset
            assert node.topics == written
            await node.write("one more")
            assert node.topics == {*written, "one more"}

    asyncio.run(scenario())


def test_without_retention_log_and_snapshots_stay(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, SnapshotConfig(500, 0, -1, -1)) as node:
            for index in range(20):
                await node.write(f"topic {index}")
                await asyncio.sleep(0.01)
            assert len(node.files.read_facts()) > 2
            assert node.log.start_offset == 0
            assert node.files.ids[0] == BOOTSTRAP_SNAPSHOT

    asyncio.run(scenario())


def test_a_snapshot_is_written_after_a_time_with_something_new(tmp_path: Path) -> None:
    """Also where nothing comes after it."""

    async def scenario() -> None:
        async with running(tmp_path, SnapshotConfig(2**62, 100, -1, -1)) as node:
            for name in ("one", "two"):
                await node.write(name)
                async with asyncio.timeout(10):
                    while node.files.latest() != OffsetAndEpoch(node.driver.end_offset, 1):
                        await asyncio.sleep(0.01)
            snapshots = node.files.ids[:]
            await asyncio.sleep(0.3)
            assert node.files.ids == snapshots, "there was nothing new"

    asyncio.run(scenario())


def test_it_ends_although_one_has_just_become_due(tmp_path: Path) -> None:
    async def scenario() -> None:
        for index in range(20):
            async with running(tmp_path, SnapshotConfig(1, 0, -1, -1)) as node:
                await node.write(f"topic {index}")

    asyncio.run(asyncio.wait_for(scenario(), 30))


def test_a_snapshot_of_many_batches_holds_all_of_the_image(tmp_path: Path) -> None:
    image = image_of_configs(3_000)
    files = SnapshotFiles(LocalDisk(), str(tmp_path))
    snapshot_id = OffsetAndEpoch(image.provenance.offset + 1, image.provenance.epoch)
    files.write(snapshot_id, 0, b"a download that came to nothing")
    header = open_header(tmp_path)
    files.write_whole(snapshot_id, snapshot_chunks(image, header, now_ms=7))
    assert files.latest() is None
    files.add(snapshot_id)
    follower = MetadataFollower()
    follower.on_snapshot(files.values(snapshot_id), image.provenance)
    assert follower.image.configs == image.configs
    assert follower.applied_offset == image.provenance.offset
    assert files.read_facts()[0][1] > 2 * 1024 * 1024  # more than two batches of it


def image_of_configs(count: int) -> MetadataImage:
    follower = MetadataFollower()
    records = [
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        *(
            ConfigRecord(resource_type=2, resource_name=f"t{i}", name="x", value="v" * 1000)
            for i in range(count)
        ),
    ]
    follower.on_snapshot([write_typed(each, 0) for each in records], Provenance(4711, 3, 5))
    assert follower.image is not EMPTY
    return follower.image


def open_header(tmp_path: Path) -> bytes:
    """As a node that was formatted has it."""
    disk, path = LocalDisk(), tmp_path / "formatted"
    path.mkdir()
    format_alone(disk, str(path), 1, ENDPOINT, rng=random.Random(1), now_ms=1)
    files = SnapshotFiles(disk, f"{path}/{METADATA_DIRECTORY}")
    whole = files.read(BOOTSTRAP_SNAPSHOT, 0, 1 << 20)
    return bytes(whole)[: 12 + int.from_bytes(bytes(whole)[8:12], "big")]
