import random

import pytest

from snakka.storage.config import LogConfig
from snakka.storage.disk import read_whole, replace_file
from snakka.storage.log import Log
from snakka.storage.log_directory import LogDirectory, OpenedDirectory
from snakka.storage.names import TopicPartition
from snakka.storage.open_files import OpenFiles
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, TOPIC_ID, batch_of

A, B = TopicPartition("a", 0), TopicPartition("b", 3)
CONFIG = LogConfig(segment_bytes=500, index_interval_bytes=100)


def open_directory(disk: SimulatedDisk) -> OpenedDirectory:
    return LogDirectory.open(
        OpenFiles(disk), "/data", random.Random(0), lambda _: CONFIG, now_ms=NOW_MS
    )


def append(log: Log, count: int) -> None:
    for n in range(count):
        log.append_as_leader(batch_of(b"%d" % n), leader_epoch=0, now_ms=NOW_MS)
    log.write_staged()
    log.update_high_watermark(log.log_end_offset)


@pytest.fixture
def directory(disk: SimulatedDisk) -> LogDirectory:
    directory = open_directory(disk).directory
    append(directory.create(A, TOPIC_ID, CONFIG, now_ms=NOW_MS), 20)
    append(directory.create(B, TOPIC_ID, CONFIG, now_ms=NOW_MS), 5)
    return directory


def test_a_clean_shutdown(disk: SimulatedDisk, directory: LogDirectory) -> None:
    directory.shut_down(broker_epoch=5)
    disk.crash()
    opened = open_directory(disk)
    assert (opened.was_clean, opened.broker_epoch) == (True, 5)
    ends = {p: log.log_end_offset for p, log in opened.directory.logs.items()}
    assert ends == {A: 20, B: 5}
    assert opened.directory.logs[A].high_watermark == 20
    assert not open_directory(disk).was_clean, "the mark is taken once"


def test_a_crash_keeps_what_was_flushed(disk: SimulatedDisk, directory: LogDirectory) -> None:
    directory.logs[A].flush()
    directory.checkpoint()
    append(directory.logs[A], 7)
    disk.crash()
    opened = open_directory(disk)
    assert not opened.was_clean
    assert opened.directory.logs[A].log_end_offset >= 20


def test_deleted_records_stay_deleted(disk: SimulatedDisk, directory: LogDirectory) -> None:
    # pitfall 5
    directory.logs[A].advance_log_start(3)
    directory.logs[A].flush()
    directory.checkpoint()
    assert read_whole(disk, "/data/log-start-offset-checkpoint") == b"0\n1\na 0 3\n"
    disk.crash()
    assert open_directory(disk).directory.logs[A].log_start_offset == 3


def test_a_cut_is_checkpointed_before_it_is_made(
    disk: SimulatedDisk, directory: LogDirectory
) -> None:
    directory.logs[A].flush()
    directory.checkpoint()
    directory.truncate_to(A, 6)
    append(directory.logs[A], 30)
    disk.crash()
    opened = open_directory(disk)
    assert opened.directory.logs[A].log_end_offset >= 6
    directory = opened.directory
    directory.logs[A].flush()
    directory.checkpoint()
    directory.truncate_fully(A, 100)
    assert b"a 0 0\n" in read_whole(disk, "/data/recovery-point-offset-checkpoint")
    disk.crash()
    assert open_directory(disk).directory.logs[A].log_end_offset == 100


def test_a_damaged_checkpoint_means_recovering_everything(
    disk: SimulatedDisk, directory: LogDirectory
) -> None:
    directory.shut_down(broker_epoch=1)
    replace_file(disk, "/data/recovery-point-offset-checkpoint", b"junk\n0\n")
    opened = open_directory(disk)
    assert opened.rebuilt == ("/data/recovery-point-offset-checkpoint",)
    assert opened.directory.logs[A].log_end_offset == 20


def test_other_directories_are_left_alone(disk: SimulatedDisk, directory: LogDirectory) -> None:
    disk.make_directory("/data/c-0.17-stray")
    disk.make_directory("/data/lost+found")
    directory.shut_down(broker_epoch=1)
    assert set(open_directory(disk).directory.logs) == {A, B}
