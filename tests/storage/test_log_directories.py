import random

import pytest

from snakka.protocol.types import Uuid
from snakka.storage.config import LogConfig
from snakka.storage.errors import LogFailedError
from snakka.storage.identity import read_topic_id
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory, NewLog
from snakka.storage.names import TopicPartition
from snakka.storage.open_files import OpenFiles
from snakka.storage.residence import Fate, Residence
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, TOPIC_ID, batch_of

CONFIG = LogConfig()
IDS = {"/a": Uuid(b"a" * 16), "/b": Uuid(b"b" * 16)}
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Node:
    """Two directories, each on a disk of its own."""

    def __init__(self) -> None:
        self.disks = {path: SimulatedDisk(random.Random(1)) for path in IDS}
        self.failures: list[str] = []
        self.directories = self.open()

    def open(self, cordoned: tuple[str, ...] = ()) -> LogDirectories:
        opened = [
            LogDirectory.open(
                OpenFiles(disk),
                path,
                random.Random(2),
                lambda _: CONFIG,
                now_ms=NOW_MS,
                on_failure=lambda path, error: self.failures.append(path),
            ).directory
            for path, disk in self.disks.items()
        ]
        self.directories = LogDirectories(IDS, opened, {}, cordoned)
        return self.directories

    def create(self, partition: TopicPartition, path: str | None = None) -> str:
        log = self.directories.create(partition, TOPIC_ID, CONFIG, path, now_ms=NOW_MS)
        log.append_as_leader(batch_of(b"x"), leader_epoch=0, now_ms=NOW_MS)
        log.write_staged()
        return log.directory

    def names(self, path: str) -> list[str]:
        return sorted(each for each in self.disks[path].names(path) if each.startswith("t-"))


@pytest.fixture
def node() -> Node:
    return Node()


def test_partitions_go_where_few_are_or_where_somebody_wants_them(node: Node) -> None:
    assert node.create(P0) == "/a/t-0"
    assert node.create(P1) == "/b/t-1"
    assert node.create(TopicPartition("t", 2), "/b") == "/b/t-2"
    node.directories.preferred[TopicPartition("t", 3)] = "/b"
    assert node.create(TopicPartition("t", 3), "/a") == "/b/t-3"
    assert node.directories.preferred == {}
    node.open(cordoned=("/a",))
    assert node.create(TopicPartition("t", 4)) == "/b/t-4"


def test_a_failed_write_names_the_directory_and_the_others_go_on(node: Node) -> None:
    node.create(P0)
    node.create(P1)
    node.disks["/a"].failing = {"write"}
    failed, other = node.directories.find_log(P0), node.directories.find_log(P1)
    assert failed is not None
    assert other is not None
    failed.append_as_leader(batch_of(b"y"), leader_epoch=0, now_ms=NOW_MS)
    with pytest.raises(LogFailedError):
        failed.write_staged()
    assert node.failures == ["/a"]
    assert node.directories.take_offline("/a", "EIO") is not None
    assert node.directories.take_offline("/a", "EIO") is None
    assert node.directories.find(P0) is None
    other.append_as_leader(batch_of(b"y"), leader_epoch=0, now_ms=NOW_MS)
    other.write_staged()
    node.directories.checkpoint()
    assert node.directories.paths == ("/b", "/a")
    assert node.create(TopicPartition("t", 2)) == "/b/t-2"


def test_a_directory_where_nothing_can_be_made_is_passed_over(node: Node) -> None:
    node.disks["/a"].failing = {"write"}
    assert node.create(P0) == "/b/t-0"
    assert node.failures == ["/a"]
    with pytest.raises(OSError, match="Input/output error"):
        node.create(P1, "/a")


def test_deleted_directories_wait_before_they_go(node: Node) -> None:
    node.create(P0)
    node.directories.delete(P0, now_ms=NOW_MS)
    (deleted,) = node.names("/a")
    assert deleted.endswith("-delete")
    directory = node.directories.online["/a"]
    directory.sweep(1000, now_ms=NOW_MS + 999)
    assert node.names("/a") == [deleted]
    directory.sweep(1000, now_ms=NOW_MS + 1000)
    assert node.names("/a") == []


def test_what_a_dead_process_had_deleted_goes_too(node: Node) -> None:
    node.create(P0)
    node.directories.delete(P0, now_ms=NOW_MS)
    node.open().online["/a"].sweep(1000, now_ms=NOW_MS + 1000)
    assert node.names("/a") == []


def test_a_topic_made_anew_shares_no_file_with_the_one_before(node: Node) -> None:
    node.create(P0, "/a")
    node.directories.delete(P0, now_ms=NOW_MS)
    node.create(P0, "/a")
    for directory in node.directories:
        directory.shut_down(1)
    log = node.open().find_log(P0)
    assert log is not None
    assert log.log_end_offset == 1


def test_stray_logs_are_set_aside_and_stay(node: Node) -> None:
    node.create(P0, "/a")
    node.create(P1, "/a")
    directories = node.open()
    residences = {P0: Residence(Uuid(b"another topic id"), None)}
    done = directories.settle(residences, now_ms=NOW_MS)
    assert {fate for _, _, fate in done} == {Fate.SET_ASIDE}
    assert directories.find(P0) is None
    assert all(name.endswith("-stray") for name in node.names("/a"))
    node.open().online["/a"].sweep(0, now_ms=NOW_MS)
    assert len(node.names("/a")) == 2


def new_logs(count: int) -> list[tuple[NewLog, str | None]]:
    return [(NewLog(TopicPartition("t", index), TOPIC_ID, CONFIG), None) for index in range(count)]


def test_many_at_once_go_where_few_are_and_outlive_a_crash(node: Node) -> None:
    node.create(P0, "/a")
    node.directories.create_all(new_logs(8)[1:], now_ms=NOW_MS)
    assert [len(node.directories.online[path].logs) for path in IDS] == [4, 4]
    for disk in node.disks.values():
        disk.crash()
    opened = node.open()
    assert sorted(index for each in opened for _, index in each.logs) == list(range(8))
    for path, disk in node.disks.items():
        for name in node.names(path):
            assert read_topic_id(disk, f"{path}/{name}/partition.metadata") == TOPIC_ID


def test_of_many_at_once_those_of_a_failed_directory_are_left_over(node: Node) -> None:
    node.disks["/a"].failing = {"write"}
    node.directories.create_all(new_logs(4), now_ms=NOW_MS)
    assert node.failures == ["/a"]
    assert [len(node.directories.online[path].logs) for path in IDS] == [0, 2]
