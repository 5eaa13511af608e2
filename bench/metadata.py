"""The metadata of a node beside Apache Kafka's: `python -m bench.metadata [--topics COUNT]`.

How long a node takes from an empty directory until a topic could be created; how long so many
topics of one partition take to be created, and the image of them to be rebuilt from a snapshot.
Both are nodes of both roles on the same machine, and take turns.

How to read it: seconds; of starts and images the fastest round. Kafka's directory is formatted
beforehand, which is not counted; Snakka formats its own, which is. The image is that of Snakka's
snapshot, which both read; Kafka's is given for a JVM that has just started, as the first of a node
is, and for one that has done it before. Goals: a start in under 0.4 s beyond the interpreter's own,
10,000 topics rebuilt in under 2 s.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from snakka.metadata.image import Provenance
from snakka.node.metadata_follower import MetadataFollower
from snakka.node.metadata_log import METADATA_DIRECTORY
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from snakka.storage.disk import LocalDisk
from tests.compat.asking import ask
from tests.compat.cluster import KafkaNodeProcess, NodeProcess, free_ports
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

START_ROUNDS: Final = 7
IMAGE_ROUNDS: Final = 7
REQUEST_TOPICS: Final = 500
TIMEOUT_S: Final = 60.0
PROBE_S: Final = 0.002
SNAPSHOT_MS: Final = 2_000
SETTINGS: Final = (
    f"metadata.log.max.snapshot.interval.ms={SNAPSHOT_MS}",
    "offsets.topic.replication.factor=1",
)


def make(kind: type[NodeProcess], directory: Path) -> NodeProcess:
    broker, controller = free_ports(2)
    quorum = f"controller.quorum.bootstrap.servers=127.0.0.1:{controller}"
    settings = (*SETTINGS, quorum) if kind is KafkaNodeProcess else SETTINGS
    node = kind(directory, 1, "broker,controller", controller, broker, settings)
    if kind is KafkaNodeProcess:
        node.format("--standalone")
    return node


def start(node: NodeProcess) -> float:
    """Seconds until a topic could be created: broker and controller are there, and know it."""
    begun_s = time.perf_counter()
    node.start()
    while True:
        try:
            create(node, 0, 1, validate_only=True)
        except (OSError, AssertionError):
            assert time.perf_counter() - begun_s < TIMEOUT_S, node.log.read_text()
            time.sleep(PROBE_S)
        else:
            return time.perf_counter() - begun_s


def time_starts(directory: Path) -> None:
    alone: list[float] = []
    ours: list[float] = []
    theirs: list[float] = []
    for index in range(START_ROUNDS):
        begun_s = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        alone.append(time.perf_counter() - begun_s)
        for kind, seconds in ((NodeProcess, ours), (KafkaNodeProcess, theirs)):
            node = make(kind, directory / f"{kind.__name__}-{index}")
            seconds.append(start(node))
            node.kill()
    print(f"the interpreter alone                      {min(alone):6.3f} s")
    report("from an empty directory to serving", min(ours), min(theirs))
    print(f"  of which beyond the interpreter          {min(ours) - min(alone):6.3f} s, goal 0.4")


def report(what: str, ours_s: float, theirs_s: float) -> None:
    print(f"{what:42} {ours_s:6.3f} s, Kafka {theirs_s:6.3f} s, {theirs_s / ours_s:4.1f} times")


def create(node: NodeProcess, first: int, count: int, *, validate_only: bool = False) -> float:
    topics = [
        CreatableTopic(
            name=f"topic-{first + index}",
            num_partitions=1,
            replication_factor=1,
            assignments=[],
            configs=[],
        )
        for index in range(count)
    ]
    request = CreateTopicsRequest(topics=topics, timeout_ms=60_000, validate_only=validate_only)
    begun_s = time.perf_counter()
    answer = ask(node.bootstrap, request, 7, CreateTopicsResponse)
    seconds = time.perf_counter() - begun_s
    assert not any(each.error_code for each in answer.topics)
    return seconds


def time_topics(directory: Path, count: int) -> Path:
    """The directory of Snakka's metadata log."""
    nodes = [make(kind, directory / kind.__name__) for kind in (NodeProcess, KafkaNodeProcess)]
    seconds = [0.0, 0.0]
    try:
        for node in nodes:
            start(node)
        for first in range(0, count, REQUEST_TOPICS):
            for index, node in enumerate(nodes):
                seconds[index] += create(node, first, min(REQUEST_TOPICS, count - first))
        report(f"{count:,} topics created", *seconds)
        time.sleep(SNAPSHOT_MS / 1000)
        create(nodes[0], count, 1)  # a snapshot is due, with all of them
        metadata = nodes[0].directory / "data" / METADATA_DIRECTORY
        wait_for_snapshot(metadata, count)
    finally:
        for node in nodes:
            node.kill()
    return metadata


def wait_for_snapshot(metadata: Path, count: int) -> None:
    """Until there is one with all topics, which are of two records each."""
    deadline_s = time.perf_counter() + TIMEOUT_S
    while max(int(each.name[:20]) for each in metadata.glob("*.checkpoint")) < 2 * count:
        assert time.perf_counter() < deadline_s
        time.sleep(0.1)


def time_images(metadata: Path, count: int) -> None:
    files = SnapshotFiles(LocalDisk(), str(metadata))
    latest = files.latest()
    assert latest is not None
    ours: list[float] = []
    theirs: list[float] = []
    with JavaProgram(JAVA_SOURCES / "MetadataImages.java") as java:
        for _ in range(IMAGE_ROUNDS):
            follower = MetadataFollower()
            begun_s = time.perf_counter()
            follower.on_snapshot(files.values(latest), Provenance(latest.offset - 1, 0, 0))
            ours.append(time.perf_counter() - begun_s)
            topics, nanoseconds = java.ask(f"{metadata} {latest.offset} {latest.epoch}").split()
            assert int(topics) == len(follower.image.topics) >= count
            theirs.append(int(nanoseconds) / 1e9)
    report(f"the image of {count:,} topics rebuilt", min(ours), theirs[0])
    print(f"  Kafka's in a JVM that has done it before {min(theirs):6.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--topics", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        directory = Path(work)
        # Modules are compiled once, as for everybody who has installed them.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(directory / "compiled")
        time_starts(directory / "starts")
        metadata = time_topics(directory / "topics", arguments.topics)
        time_images(metadata, arguments.topics)


if __name__ == "__main__":
    main()
