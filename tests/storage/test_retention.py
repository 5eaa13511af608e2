import pytest

from snakka.storage.config import LogConfig
from snakka.storage.errors import OffsetOutOfRangeError
from snakka.storage.opening import Checkpointed
from snakka.storage.retention import Limits, SegmentFacts, count_deletable, enforce_retention
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import Harness, batch_of

DAY_MS = 24 * 60 * 60 * 1000
THREE = [SegmentFacts(10, 100, 1000), SegmentFacts(20, 100, 2000), SegmentFacts(30, 100, 3000)]
KEEP = LogConfig(retention_ms=-1, retention_bytes=-1)


def limits(now_ms: int = 0, start: int = 0, high_watermark: int = 30) -> Limits:
    return Limits(start, high_watermark, now_ms)


def test_nothing_is_deleted_without_limits() -> None:
    assert count_deletable(THREE, limits(1 << 60), KEEP) == 0


def test_by_time() -> None:
    config = LogConfig(retention_ms=500)
    counts = [count_deletable(THREE, limits(now), config) for now in (1500, 1501, 2501, 3501)]
    assert counts == [0, 1, 2, 3]


def test_a_younger_segment_protects_the_older_ones_after_it() -> None:
    config = LogConfig(retention_ms=500)
    assert count_deletable(THREE[1:] + THREE[:1], limits(1600), config) == 0


def test_by_size() -> None:
    counts = [
        count_deletable(THREE, limits(), LogConfig(retention_ms=-1, retention_bytes=size))
        for size in (300, 201, 200, 100, 0)
    ]
    assert counts == [0, 0, 1, 2, 3]


def test_by_log_start_whatever_the_policy() -> None:
    config = LogConfig(is_deleted=False, is_compacted=True)
    counts = [count_deletable(THREE, limits(start=n), config) for n in (9, 10, 20, 30)]
    assert counts == [0, 1, 2, 2]


def test_nothing_above_the_high_watermark() -> None:
    config = LogConfig(retention_ms=0)
    counts = [
        count_deletable(THREE, limits(9999, high_watermark=n), config) for n in (9, 10, 29, 30)
    ]
    assert counts == [0, 1, 2, 3]


def test_an_empty_active_segment_stays() -> None:
    config = LogConfig(retention_ms=0)
    segments = [*THREE[:2], SegmentFacts(20, 0, -1)]
    assert count_deletable(segments, limits(9999), config) == 2


@pytest.fixture
def harness(disk: SimulatedDisk) -> Harness:
    config = LogConfig(segment_bytes=500, index_interval_bytes=100, retention_ms=DAY_MS)
    harness = Harness(disk, config)
    for n in range(20):
        harness.append(batch_of(b"%d" % n, timestamp_ms=DAY_MS + n))
    harness.log.update_high_watermark(20)
    return harness


def test_enforcing(disk: SimulatedDisk, harness: Harness) -> None:
    log = harness.log
    second = log.segments[1].base_offset
    assert enforce_retention(log, now_ms=2 * DAY_MS + second) == 1
    assert log.log_start_offset == log.segments[0].base_offset == second
    assert [offset for offset, _ in harness.values()] == list(range(second, 20))
    log.segments.delete_retired()
    assert not [name for name in disk.names("/logs/t-0") if name.endswith(".deleted")]
    assert enforce_retention(log, now_ms=9 * DAY_MS) == len(log.segments) + 3 - 1
    assert log.log_start_offset == log.log_end_offset == 20
    harness.append(batch_of(b"new"))
    harness.reopen()
    assert harness.values() == [(20, b"new")]


def test_recovered_segments_keep_their_timestamps(harness: Harness) -> None:
    # pitfall 17
    before = [segment.largest_timestamp for segment in harness.log.segments]
    harness.reopen_after_crash(0)
    assert [segment.largest_timestamp for segment in harness.log.segments] == before
    harness.log.update_high_watermark(20)
    assert enforce_retention(harness.log, now_ms=2 * DAY_MS) == 0


def test_records_without_timestamps_are_as_old_as_their_file(disk: SimulatedDisk) -> None:
    harness = Harness(disk, LogConfig(retention_ms=500))
    disk.now_ms = 1000
    harness.append(batch_of(b"a", timestamp_ms=-1))
    harness.log.update_high_watermark(1)
    assert enforce_retention(harness.log, now_ms=1500) == 0
    assert enforce_retention(harness.log, now_ms=1501) == 1


def test_deleted_records_stay_deleted_after_a_restart(harness: Harness) -> None:
    # pitfall 5
    log = harness.log
    assert log.advance_log_start(9)
    assert not log.advance_log_start(9)
    assert [offset for offset, _ in harness.values()] == list(range(9, 20))
    with pytest.raises(OffsetOutOfRangeError):
        harness.read(8, 100)
    with pytest.raises(OffsetOutOfRangeError):
        log.advance_log_start(21)
    harness.reopen()
    assert harness.log.log_start_offset == 9
    harness.open(Checkpointed(log_start_offset=9))
    assert harness.log.log_start_offset == 9
    harness.log.update_high_watermark(20)
    enforce_retention(harness.log, now_ms=0)
    assert harness.log.segments[0].base_offset <= 9 < harness.log.segments[1].base_offset
    assert [offset for offset, _ in harness.values()] == list(range(9, 20))
