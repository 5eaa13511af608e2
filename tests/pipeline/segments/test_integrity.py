"""Damage is found wherever it is, and a sound segment has none, compacted or not."""

import random

import pytest

from snakka.pipeline.segments.integrity import SegmentReport, check_segment
from snakka.storage.config import LogConfig
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import DIRECTORY, NOW_MS, Harness, batch_of, keyed

STEM = f"{DIRECTORY}/{0:020d}"
LEADER_EPOCH = range(12, 16)  # of a batch: no checksum covers it, and any value may be right
BATCHES = 20


@pytest.fixture
def disk() -> SimulatedDisk:
    """A log of one segment, with a batch for each entry of its indexes."""
    disk = SimulatedDisk(random.Random(0))
    log = Harness(disk, LogConfig(index_interval_bytes=1))
    for number in range(BATCHES):
        log.append(batch_of(b"a", b"b", timestamp_ms=NOW_MS + number))
    log.log.shut_down()
    return disk


def check(disk: SimulatedDisk, *, is_last: bool = True) -> SegmentReport:
    return check_segment(disk, STEM, 0, is_last=is_last)


def content(disk: SimulatedDisk, path: str) -> bytes:
    file = disk.open(path)
    return file.read(0, file.size())


def replace(disk: SimulatedDisk, path: str, data: bytes) -> None:
    file = disk.open(path, create=True)
    file.truncate(0)
    file.write([data], 0)


def test_a_sound_segment(disk: SimulatedDisk) -> None:
    assert check(disk) == SegmentReport(BATCHES, 2 * BATCHES, 0, 2 * BATCHES, ())


def test_what_compaction_removed_is_counted() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = Harness(disk, LogConfig(is_compacted=True, segment_bytes=400))
    for number in range(12):
        log.append(keyed((b"k%d" % (number % 2), b"v")))
    log.compact()
    reports = [
        check_segment(
            disk, f"{DIRECTORY}/{segment.base_offset:020d}", segment.base_offset, is_last=False
        )
        for segment in log.log.segments
    ]
    assert sum(each.record_count for each in reports) < 12
    assert sum(each.missing_offset_count for each in reports) > 0
    assert all(each.problems == () for each in reports)


def test_every_flipped_bit_of_the_records_is_found(disk: SimulatedDisk) -> None:
    path = STEM + ".log"
    whole = content(disk, path)
    size = len(whole) // BATCHES
    for position in range(3 * size, 5 * size):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        replace(disk, path, bytes(flipped))
        problems = check(disk).problems
        if position % size in LEADER_EPOCH:
            assert not problems
            continue
        assert problems, f"byte {position % size} of a batch"
        of_log = next(each for each in problems if each.path == path)
        # An offset that is too high is one that compaction might have left: what follows tells.
        assert of_log.position in (position // size * size, (position // size + 1) * size)


@pytest.mark.parametrize("cut_bytes", [1, 60, 100])
def test_a_torn_end_is_no_damage_of_the_last_segment(disk: SimulatedDisk, cut_bytes: int) -> None:
    path = STEM + ".log"
    whole = content(disk, path)
    replace(disk, path, whole[:-cut_bytes])
    assert check(disk).problems == ()
    (problem,) = check(disk, is_last=False).problems
    assert "nothing intact follows" in problem.reason


def test_damage_before_intact_batches_is_damage_of_any_segment(disk: SimulatedDisk) -> None:
    path = STEM + ".log"
    whole = content(disk, path)
    replace(disk, path, whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    (problem,) = check(disk).problems
    assert problem.position == 0
    assert "intact batches follow" in problem.reason


@pytest.mark.parametrize(
    ("suffix", "entry", "reason"),
    [
        (".index", (11).to_bytes(4) + (7).to_bytes(4), "where no batch begins"),
        (".index", bytes(7) + b"\1", "where no batch begins"),
        (".index", (1).to_bytes(4) + (1 << 20).to_bytes(4), "where no batch begins"),
        (".timeindex", (NOW_MS - 1).to_bytes(8) + (39).to_bytes(4), f"{NOW_MS + 19} is"),
    ],
)
def test_entries_that_mislead(disk: SimulatedDisk, suffix: str, entry: bytes, reason: str) -> None:
    replace(disk, STEM + suffix, entry)
    (problem,) = check(disk).problems
    assert problem.path == STEM + suffix
    assert reason in problem.reason


def test_an_entry_for_offsets_before_its_batch(disk: SimulatedDisk) -> None:
    path = STEM + ".index"
    entries = content(disk, path)
    replace(disk, path, (0).to_bytes(4) + entries[4:])
    (problem,) = check(disk).problems
    assert "the batch there begins at" in problem.reason


def test_indexes_that_are_torn_missing_or_of_another_version(disk: SimulatedDisk) -> None:
    replace(disk, STEM + ".index", content(disk, STEM + ".index")[:-3])
    disk.remove(STEM + ".timeindex")
    replace(disk, STEM + ".txnindex", b"\0\7" + bytes(32))
    reasons = [each.reason for each in check(disk).problems]
    assert reasons == ["a torn entry", "missing", "an entry of version 7"]


def test_room_that_kafka_took_for_an_index_is_no_entry(disk: SimulatedDisk) -> None:
    for suffix in (".index", ".timeindex"):
        replace(disk, STEM + suffix, content(disk, STEM + suffix) + bytes(1200))
    assert check(disk).problems == ()
