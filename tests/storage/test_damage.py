"""Bits flipped and ends cut off in the files that no other test of damage covers.

A partition's records, indexes and snapshots are in test_opening.py. None of the files here has a
checksum, so what is read from one may be wrong: it must be told, or be harmless.
"""

import random
from collections.abc import Callable, Iterator

import pytest

from snakka.protocol.types import Uuid
from snakka.storage.checkpoints import read_epochs, read_offsets
from snakka.storage.clean_shutdown import mark_clean, take_mark
from snakka.storage.compaction.compact import look_at
from snakka.storage.config import LogConfig
from snakka.storage.disk import read_whole, replace_file
from snakka.storage.errors import CorruptFileError
from snakka.storage.identity import (
    MetaProperties,
    read_meta_properties,
    read_topic_id,
    write_meta_properties,
    write_topic_id,
)
from snakka.storage.log_directory import LogDirectory, OpenedDirectory
from snakka.storage.names import CLEAN_SHUTDOWN, TopicPartition
from snakka.storage.open_files import OpenFiles
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, TOPIC_ID, batch_of

A, B = TopicPartition("a", 0), TopicPartition("b", 3)
CONFIG = LogConfig(segment_bytes=500, index_interval_bytes=100, is_compacted=True)
ID = Uuid(b"0123456789abcdef")

Read = Callable[[SimulatedDisk, str], object]

READERS: dict[str, tuple[Read, bytes]] = {
    "recovery-point-offset-checkpoint": (read_offsets, b"0\n2\na 0 17\nb.c 12 3\n"),
    "leader-epoch-checkpoint": (read_epochs, b"0\n2\n0 0\n7 123\n"),
    "meta.properties": (
        read_meta_properties,
        b"#\n#Sat Jan 01 00:00:00 UTC 2000\ncluster.id=AAAAAAAAAAAAAAAAAAAAAQ\n"
        b"directory.id=AAAAAAAAAAAAAAAAAAAAAQ\nnode.id=1\nversion=1\n",
    ),
    "partition.metadata": (read_topic_id, b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"),
    CLEAN_SHUTDOWN: (
        lambda disk, path: take_mark(disk, "/data"),
        b'{"version":0,"brokerEpoch":123}',
    ),
}


def damaged(content: bytes) -> Iterator[bytes]:
    """Every bit flipped, every end cut off, every stretch of zeros, and something behind."""
    for position in range(len(content)):
        for bit in range(8):
            flipped = bytearray(content)
            flipped[position] ^= 1 << bit
            yield bytes(flipped)
        yield content[:position]
        yield content[:position] + bytes(len(content) - position)
    yield content + b"\0junk\n"
    yield content + content


@pytest.mark.parametrize("name", READERS)
def test_a_small_file_is_read_or_told_to_be_corrupt(disk: SimulatedDisk, name: str) -> None:
    read, content = READERS[name]
    disk.make_directory("/data")
    path, differing = f"/data/{name}", 0
    told = []
    replace_file(disk, path, content)
    whole = read(disk, path)
    for each in damaged(content):
        replace_file(disk, path, each)
        try:
            found = read(disk, path)
        except CorruptFileError as error:
            told.append(error.path)
        else:
            assert isinstance(found, type(whole))
            differing += found != whole
    assert set(told) == (set() if name == CLEAN_SHUTDOWN else {path})
    assert differing > 0, "nothing guards the digits"


def open_directory(disk: SimulatedDisk) -> OpenedDirectory:
    return LogDirectory.open(
        OpenFiles(disk), "/data", random.Random(0), lambda _: CONFIG, now_ms=NOW_MS
    )


def make_directory(disk: SimulatedDisk, *, is_clean: bool) -> None:
    directory = open_directory(disk).directory
    for partition, count in ((A, 40), (B, 5)):
        log = directory.create(partition, TOPIC_ID, CONFIG, now_ms=NOW_MS)
        for n in range(count):
            log.append_as_leader(batch_of(b"%d" % n), leader_epoch=0, now_ms=NOW_MS)
            log.write_staged()
            if n == 25:
                log.flush()
        log.update_high_watermark(count)
    directory.logs[A].advance_log_start(11)
    directory.was_compacted(A, 20)
    directory.checkpoint()
    if is_clean:
        directory.shut_down(broker_epoch=1)


def content(disk: SimulatedDisk) -> dict[str, bytes]:
    folders = ["/data", *(f"/data/{partition}" for partition in (A, B))]
    return {
        f"{folder}/{name}": read_whole(disk, f"{folder}/{name}")
        for folder in folders
        for name in disk.names(folder)
        if name not in (str(A), str(B))
    }


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
        "log-start-offset-checkpoint",
        "cleaner-offset-checkpoint",
        CLEAN_SHUTDOWN,
    ],
)
def test_damage_of_a_directorys_own_files_costs_no_record(name: str, is_clean: bool) -> None:
    disk = SimulatedDisk(random.Random(0))
    make_directory(disk, is_clean=is_clean)
    if name == CLEAN_SHUTDOWN and not is_clean:
        mark_clean(disk, "/data", 1)
    pristine = content(disk)
    victims = list(damaged(pristine[f"/data/{name}"]))
    for victim in random.Random(1).sample(victims, 60):
        disk = SimulatedDisk(random.Random(0))
        for folder in ("/data", f"/data/{A}", f"/data/{B}"):
            disk.make_directory(folder)
        for path, data in pristine.items():
            replace_file(disk, path, data)
        replace_file(disk, f"/data/{name}", victim)
        opened = open_directory(disk)
        for partition, end in ((A, 40), (B, 5)):
            _check_log(disk, opened, partition, end)


def _check_log(
    disk: SimulatedDisk, opened: OpenedDirectory, partition: TopicPartition, end: int
) -> None:
    log = opened.directory.logs[partition]
    look_at(log, opened.directory.cleaned_offsets.get(partition), now_ms=NOW_MS)
    if log.log_start_offset > end:  # believed, since a log may really have lost its end
        (whole,) = (each for each in opened.opened if each.log is log)
        assert whole.damages, "the records are kept aside, and it is told"
        kept = [name for name in disk.names(f"/data/{partition}") if name.endswith(".damaged")]
        assert kept
        return
    assert log.log_end_offset == end
    assert log.log_start_offset <= log.high_watermark <= end
    first = log.segments[0].base_offset
    assert first == 0, "and what is hidden is still there"
    log.append_as_leader(batch_of(b"next"), leader_epoch=0, now_ms=NOW_MS)
    log.write_staged()
    assert log.log_end_offset == end + 1


def test_damage_of_one_file_is_not_that_of_its_neighbour(disk: SimulatedDisk) -> None:
    disk.make_directory("/data")
    write_meta_properties(disk, "/data/meta.properties", MetaProperties("cluster", 1, ID))
    write_topic_id(disk, "/data/partition.metadata", ID)
    replace_file(disk, "/data/partition.metadata", b"")
    with pytest.raises(CorruptFileError, match=r"partition\.metadata"):
        read_topic_id(disk, "/data/partition.metadata")
    assert read_meta_properties(disk, "/data/meta.properties").node_id == 1
