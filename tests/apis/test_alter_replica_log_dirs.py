"""AlterReplicaLogDirs: what is refused, and with which code."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from snakka.apis.errors import error_code
from snakka.node.log_dirs import NodeLogDirs
from snakka.node.moves import Moves
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from snakka.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from snakka.protocol.types import Uuid
from snakka.replication.errors import ReplicaOfflineError
from snakka.replication.replica import Replica
from snakka.storage.log_directory import LogDirectory
from snakka.storage.names import TopicPartition
from tests.apis.broker import TOPIC_ID, TestBroker, run


@dataclasses.dataclass
class FakeMoves:
    """Notes what it is told."""

    told: list[str] = dataclasses.field(default_factory=list)
    target: str | None = None

    def find_target(self, partition: TopicPartition) -> str | None:
        return self.target

    async def cancel(self, partition: TopicPartition) -> None:
        self.told.append(f"cancel {partition}")

    async def begin(self, replica: Replica, target: LogDirectory) -> None:
        self.told.append(f"begin {target.path}")


@pytest.fixture
def moves() -> FakeMoves:
    return FakeMoves()


@pytest.fixture
def broker(tmp_path: Path, moves: FakeMoves) -> TestBroker:
    broker = TestBroker(tmp_path)
    broker.create("t")
    log_dirs = NodeLogDirs(
        broker.directories, broker.replicas, cast(Moves, moves), ThreadPoolExecutor(1)
    )
    broker.use(log_dirs=log_dirs)
    return broker


def move(broker: TestBroker, path: Path | str, topic: str = "t") -> ErrorCode:
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=str(path), topics=[AlterReplicaLogDirTopic(name=topic, partitions=[0])]
            )
        ]
    )
    (result,) = run(broker.ask(request, 2, AlterReplicaLogDirsResponse)).results
    assert result.topic_name == topic
    return ErrorCode(result.partitions[0].error_code)


def test_a_move_begins_where_the_one_before_ends(
    broker: TestBroker, moves: FakeMoves, tmp_path: Path
) -> None:
    assert move(broker, tmp_path) is ErrorCode.NONE
    assert moves.told == ["cancel t-0", f"begin {tmp_path}"]
    moves.target = str(tmp_path)
    assert move(broker, tmp_path) is ErrorCode.NONE
    assert len(moves.told) == 2, "it is under way"


def test_directories_that_cannot_be_moved_to(broker: TestBroker, tmp_path: Path) -> None:
    broker.directories.offline["/failed"] = "EIO"
    assert move(broker, "/nowhere") is ErrorCode.LOG_DIR_NOT_FOUND
    assert move(broker, "/failed") is ErrorCode.KAFKA_STORAGE_ERROR
    broker.directories.cordoned = frozenset([str(tmp_path)])
    assert move(broker, tmp_path) is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_replicas_that_cannot_be_moved(broker: TestBroker, tmp_path: Path) -> None:
    assert move(broker, tmp_path, "x" * 249) is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert move(broker, tmp_path, "later") is ErrorCode.REPLICA_NOT_AVAILABLE
    assert broker.directories.preferred == {TopicPartition("later", 0): str(tmp_path)}
    broker.replicas.take_offline("t", 0, TOPIC_ID)
    assert move(broker, tmp_path) is ErrorCode.KAFKA_STORAGE_ERROR
    with pytest.raises(ReplicaOfflineError) as offline:
        broker.replicas.get_by_id(TOPIC_ID, 0)
    assert error_code(offline.value) is ErrorCode.KAFKA_STORAGE_ERROR, "for Produce and Fetch, too"


def test_a_failed_directory_is_described_as_such(broker: TestBroker, tmp_path: Path) -> None:
    broker.directories.offline["/failed"] = "EIO"
    request = DescribeLogDirsRequest(topics=None)
    well, failed = run(broker.ask(request, 5, DescribeLogDirsResponse)).results
    assert (well.log_dir, well.error_code) == (str(tmp_path), ErrorCode.NONE)
    assert (failed.log_dir, failed.error_code) == ("/failed", ErrorCode.KAFKA_STORAGE_ERROR)
    assert failed.topics == []


def test_a_copy_is_described_with_its_lag(broker: TestBroker) -> None:
    (directory,) = broker.directories
    log = directory.logs.pop(TopicPartition("t", 0))
    directory.futures[TopicPartition("t", 0)] = log
    request = DescribeLogDirsRequest(topics=None)
    (described,) = run(broker.ask(request, 4, DescribeLogDirsResponse)).results
    assert described.topics[0].partitions[0].is_future_key


def test_ids_of_directories_are_known_while_they_are_online(broker: TestBroker) -> None:
    (directory,) = broker.directories
    assert broker.directories.find_path(TOPIC_ID) == directory.path
    assert broker.directories.find_path(Uuid(b"z" * 16)) is None
    broker.directories.take_offline(directory.path, "EIO")
    assert broker.directories.find_path(TOPIC_ID) is None
