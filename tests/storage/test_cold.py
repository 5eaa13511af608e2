"""Reads that would wait for the disk are done in a thread, whatever of a log they are of."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from snakka.storage.cold import ColdReadError, may_wait, no_waiting, waiting, when_warm
from snakka.storage.config import LogConfig
from snakka.storage.disk import LocalDisk
from snakka.storage.lookup import find_aborted_transactions, find_offset_by_timestamp
from snakka.storage.names import LOG_SUFFIX, OFFSET_INDEX_SUFFIX
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, Harness, batch_of

CONFIG = LogConfig(segment_bytes=2000, index_interval_bytes=200)


def chilled(disk: SimulatedDisk) -> Harness:
    """A log of several segments, none of which is in memory."""
    harness = Harness(disk, CONFIG)
    for n in range(40):
        harness.append(batch_of(b"%d" % n * 50, timestamp_ms=NOW_MS + n))
    harness.append(
        batch_of(b"a", producer_id=1, epoch=0, sequence=0, transactional=True), leader_epoch=0
    )
    harness.append_marker(1, 0, commit=False)
    harness.reopen()
    for segment in harness.log.segments:
        for path in segment.paths:
            disk.chill(path)
    return harness


def test_a_read_waits_outside_of_the_loop(disk: SimulatedDisk) -> None:
    harness = chilled(disk)
    log = harness.log
    with no_waiting(), pytest.raises(ColdReadError):
        log.read(7, max_bytes=1000, max_offset=40)
    waits = disk.waits
    found = asyncio.run(when_warm(lambda: log.read(7, max_bytes=1000, max_offset=40)))
    assert disk.waits > waits
    assert found.size_bytes == 1000
    with no_waiting():
        again = log.read(7, max_bytes=1000, max_offset=40)
    assert again == found


def test_lookups_wait_outside_of_the_loop(disk: SimulatedDisk) -> None:
    log = chilled(disk).log
    loops_thread = threading.get_ident()
    attempts = []

    def look_up() -> tuple[object, int]:
        assert threading.get_ident() == loops_thread
        attempts.append(disk.waits)
        found = find_offset_by_timestamp(log, NOW_MS + 20)
        return found and found.offset, len(find_aborted_transactions(log, 0, 42))

    assert asyncio.run(when_warm(look_up)) == (20, 1)
    assert len(attempts) == disk.waits + 1 > 3


def test_a_disk_that_never_tells_is_waited_for_in_the_end(
    disk: SimulatedDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = chilled(disk)
    monkeypatch.setattr("tests.simulation.disk.SimulatedFile.is_in_memory", lambda *_: False)
    disk.cold *= 1000
    found = asyncio.run(when_warm(lambda: harness.log.read(0, max_bytes=100, max_offset=40)))
    assert found.size_bytes > 0


def test_small_reads_are_copied_only_where_that_waits_for_nothing(disk: SimulatedDisk) -> None:
    harness = chilled(disk)
    found = harness.log.read(0, max_bytes=500, max_offset=40)
    assert found.find_copy() is not None
    disk.chill(harness.log.segments[0].path(LOG_SUFFIX))
    assert found.find_copy() is None
    assert len(found.copy()) == 500


def test_an_index_is_never_rebuilt_by_halves(disk: SimulatedDisk) -> None:
    harness = chilled(disk)
    disk.cold.clear()
    segment = harness.log.segments[0]
    largest = segment.largest_timestamp
    disk.flip_bit(segment.path(OFFSET_INDEX_SUFFIX), 7, 6)
    disk.flip_bit(segment.path(OFFSET_INDEX_SUFFIX), 15, 6)
    before = segment.time_index.entries.count
    with no_waiting():
        offset = harness.log.segments[1].base_offset - 1
        for _ in range(10):
            try:
                found = segment.find_batch(offset)
                break
            except ColdReadError as cold:
                cold.wait()
    assert found is not None
    assert found.header.last_offset == offset
    assert segment.time_index.entries.count == before
    assert segment.largest_timestamp == largest


def test_sections_nest() -> None:
    file = LocalDisk().open(__file__)
    with no_waiting():
        with waiting():
            assert file.read(0, 3)
        assert not may_wait()
    assert may_wait()


def test_a_section_is_of_its_thread_alone() -> None:
    seen = []
    with no_waiting():
        thread = threading.Thread(target=lambda: seen.append(may_wait()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_the_kernel_tells_what_is_in_memory(tmp_path: Path) -> None:
    file = LocalDisk().open(str(tmp_path / "a"), create=True)
    content = os.urandom(1 << 20)
    file.write([content], 0)
    assert file.is_in_memory(0, 1 << 20)
    assert file.is_in_memory(0, 2 << 20), "behind the end there is nothing to wait for"
    file.sync()
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if not _is_memory(tmp_path):  # where nothing is ever taken out
        with no_waiting(), pytest.raises(ColdReadError):
            file.read(0, 1 << 20)
    assert asyncio.run(when_warm(lambda: file.read(0, 1 << 20))) == content
    assert file.is_in_memory(0, 1 << 20)


def _is_memory(path: Path) -> bool:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    inside = [(target, kind) for _, target, kind, *_ in mounts if path.is_relative_to(target)]
    return max(inside)[1] in ("tmpfs", "ramfs")


@pytest.mark.parametrize("size_bytes", [1, 100, 4096, 4097, 9000, 20_000])
@pytest.mark.parametrize("position", [0, 77, 9_990, 10_000])
def test_a_read_that_may_not_wait_reads_what_any_other_does(
    tmp_path: Path, size_bytes: int, position: int
) -> None:
    content = bytes(range(250)) * 40
    file = LocalDisk().open(str(tmp_path / "file"), create=True)
    file.write([content], 0)
    with no_waiting():
        found = file.read(position, size_bytes)
    assert found == file.read(position, size_bytes) == content[position : position + size_bytes]
