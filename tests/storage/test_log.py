"""Appending, reading and rolling."""

import errno

import pytest

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import BatchHeader, CorruptBatchError, TimestampType, batches
from snakka.storage.config import LogConfig
from snakka.storage.errors import (
    InvalidRecordError,
    LogFailedError,
    OffsetOutOfRangeError,
    OutOfOrderSequenceError,
    RecordBatchTooLargeError,
    RecordTooLargeError,
    UnexpectedAppendOffsetError,
)
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import DIRECTORY, NOW_MS, Harness, batch_of

SMALL_SEGMENTS = LogConfig(segment_bytes=400, index_interval_bytes=100)


@pytest.fixture
def harness(disk: SimulatedDisk) -> Harness:
    return Harness(disk)


def test_offsets_are_assigned_in_order(harness: Harness) -> None:
    first = harness.append(batch_of(b"a", b"b"))
    second = harness.append(batch_of(b"c"), leader_epoch=3)
    assert (first.first_offset, first.last_offset) == (0, 1)
    assert (second.first_offset, second.last_offset) == (2, 2)
    assert harness.values() == [(0, b"a"), (1, b"b"), (2, b"c")]
    headers = [batch.header for batch in batches(harness.read(0, 9999))]
    assert [header.leader_epoch for header in headers] == [0, 3]
    assert harness.log.log_end_offset == 3


def test_staged_batches_are_written_together_and_not_read_before(
    disk: SimulatedDisk, harness: Harness
) -> None:
    log = harness.log
    writes = disk.writes
    for value in (b"a", b"b", b"c"):
        log.append_as_leader(batch_of(value), leader_epoch=0, now_ms=NOW_MS)
    assert log.log_end_offset == 0
    assert harness.read(0, 9999) == b""
    with pytest.raises(OffsetOutOfRangeError):
        harness.read(1, 9999)
    log.write_staged()
    assert disk.writes == writes + 1
    assert harness.values() == [(0, b"a"), (1, b"b"), (2, b"c")]


def test_a_follower_keeps_offsets_and_epochs(disk: SimulatedDisk, harness: Harness) -> None:
    harness.append(batch_of(b"a", b"b"), leader_epoch=4)
    harness.append(batch_of(b"c"), leader_epoch=5)
    fetched = harness.read(0, 9999)
    follower = Harness(disk, directory="/logs/t-1")
    appended = follower.log.append_as_follower(fetched[:-1], now_ms=NOW_MS)
    assert appended is not None
    assert appended.last_offset == 1, "the last batch was cut short"
    rest = harness.read(2, 9999)
    follower.log.append_as_follower(rest, now_ms=NOW_MS)
    follower.log.write_staged()
    assert follower.read(0, 9999) == fetched
    assert follower.log.epochs.entries == harness.log.epochs.entries
    with pytest.raises(UnexpectedAppendOffsetError):
        follower.log.append_as_follower(rest, now_ms=NOW_MS)
    assert follower.log.append_as_follower(b"", now_ms=NOW_MS) is None


def test_a_corrupt_batch_is_not_spread(disk: SimulatedDisk, harness: Harness) -> None:
    # pitfall 24
    harness.append(batch_of(b"a"))
    harness.append(batch_of(b"b"))
    fetched = bytearray(harness.read(0, 9999))
    fetched[-1] ^= 1
    follower = Harness(disk, directory="/logs/t-1")
    with pytest.raises(CorruptBatchError):
        follower.log.append_as_follower(fetched, now_ms=NOW_MS)
    follower.log.write_staged()
    assert follower.log.log_end_offset == 0


def test_log_append_time(disk: SimulatedDisk) -> None:
    config = LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    harness = Harness(disk, config)
    appended = harness.append(batch_of(b"a", b"b", timestamp_ms=5))
    assert appended.log_append_time == NOW_MS
    (batch,) = batches(harness.read(0, 9999))
    batch.verify_crc()
    assert [record.timestamp_ms for record in batch.records()] == [NOW_MS, NOW_MS]


def test_what_is_refused(disk: SimulatedDisk) -> None:
    config = LogConfig(max_message_bytes=200, segment_bytes=150)
    harness = Harness(disk, config)
    with pytest.raises(RecordTooLargeError):  # pitfall 9
        harness.append(batch_of(bytes(200)))
    with pytest.raises(RecordBatchTooLargeError):
        harness.append(batch_of(bytes(100)))
    with pytest.raises(InvalidRecordError, match="instead of one batch"):
        harness.append(batch_of(b"a") + batch_of(b"b"))
    with pytest.raises(InvalidRecordError, match="instead of one batch"):
        harness.append(batch_of(b"a")[:-1])
    with pytest.raises(MalformedError):
        harness.append(bytearray())
    damaged = batch_of(b"a")
    damaged[-1] ^= 1
    with pytest.raises(CorruptBatchError):
        harness.append(damaged)
    shifted = batch_of(b"a")
    shifted[7] = 1
    with pytest.raises(InvalidRecordError, match="begins at offset 1"):
        harness.append(shifted)
    with pytest.raises(InvalidRecordError, match="sequence"):
        harness.append(batch_of(b"a", producer_id=1, epoch=0))
    with pytest.raises(InvalidRecordError, match="without producer"):
        harness.append(batch_of(b"a", transactional=True))
    assert harness.log.log_end_offset == 0
    harness.append(batch_of(b"a"))


def test_an_idempotent_retry_is_answered_with_the_first_offsets(harness: Harness) -> None:
    batch = batch_of(b"a", b"b", producer_id=7, epoch=0, sequence=0)
    first = harness.append(bytearray(batch))
    harness.append(batch_of(b"c", producer_id=7, epoch=0, sequence=2))
    again = harness.append(bytearray(batch))
    assert again.is_duplicate
    assert (again.first_offset, again.last_offset) == (first.first_offset, first.last_offset)
    assert harness.log.log_end_offset == 3
    with pytest.raises(OutOfOrderSequenceError):
        harness.append(batch_of(b"d", producer_id=7, epoch=0, sequence=9))


def test_a_read_inside_a_batch_returns_all_of_it(harness: Harness) -> None:
    # pitfall 34
    harness.append(batch_of(b"a", b"b", b"c"))
    harness.append(batch_of(b"d"))
    assert harness.read(1, 9999) == harness.read(0, 9999)
    assert BatchHeader.read(harness.read(2, 9999)).base_offset == 0
    assert BatchHeader.read(harness.read(3, 9999)).base_offset == 3


def test_limits_of_a_read(harness: Harness) -> None:
    # pitfall 8
    harness.append(batch_of(bytes(500)))
    harness.append(batch_of(b"b"))
    whole = harness.read(0, 9999)
    first = BatchHeader.read(whole).size_bytes
    assert harness.read(0, 10) == whole[:first], "the first batch even when larger"
    assert harness.read(0, first + 5) == whole[: first + 5]
    log = harness.log
    read = log.read(0, max_bytes=10, max_offset=2, min_one_batch=False)
    assert read.runs == ()
    assert log.read(0, max_bytes=9999, max_offset=1).copy() == whole[:first]
    assert log.read(1, max_bytes=9999, max_offset=1).runs == ()
    assert log.read(2, max_bytes=9999, max_offset=2).runs == ()
    with pytest.raises(OffsetOutOfRangeError):
        log.read(3, max_bytes=9999, max_offset=2)


def test_a_reader_sees_no_batch_that_reaches_its_bound(harness: Harness) -> None:
    harness.append(batch_of(b"a", b"b", b"c"))
    assert harness.log.read(0, max_bytes=9999, max_offset=2).runs == ()


def test_a_short_read_in_a_sealed_segment_skips_nothing(disk: SimulatedDisk) -> None:
    # pitfall 4
    harness = Harness(disk, SMALL_SEGMENTS)
    for n in range(30):
        harness.append(batch_of(b"%03d" % n))
    assert len(harness.log.segments) > 5
    for max_bytes in (1, 80, 100, 150, 399, 401, 1000, 9999):
        seen, offset = [], 0
        while offset < 30:
            read = list(batches(harness.read(offset, max_bytes), ignore_partial_tail=True))
            seen += [record.offset for batch in read for record in batch.records()]
            offset = read[-1].header.next_offset
        assert seen == list(range(30)), max_bytes
    whole = harness.read(0, 1 << 20)
    assert [batch.header.base_offset for batch in batches(whole)] == list(range(30))


def test_any_bound_and_start(disk: SimulatedDisk) -> None:
    harness = Harness(disk, SMALL_SEGMENTS)
    for n in range(20):
        harness.append(batch_of(b"%03d" % n, b"x"))
    for start in range(0, 40, 3):
        for bound in range(start, 41):
            data = harness.log.read(start, max_bytes=1 << 20, max_offset=bound).copy()
            bases = [batch.header.base_offset for batch in batches(data)]
            assert bases == list(range(start // 2 * 2, bound // 2 * 2, 2)), (start, bound)


def test_reads_survive_the_removal_of_their_segment(disk: SimulatedDisk) -> None:
    harness = Harness(disk, SMALL_SEGMENTS)
    for n in range(20):
        harness.append(batch_of(b"%03d" % n))
    read = harness.log.read(0, max_bytes=9999, max_offset=20)
    expected = read.copy()
    harness.log.segments.remove_first(2)
    harness.log.segments.delete_retired()
    assert read.copy() == expected


def test_rolling_by_time(disk: SimulatedDisk) -> None:
    harness = Harness(disk, LogConfig(segment_ms=1000))
    harness.append(batch_of(b"a", timestamp_ms=NOW_MS))
    harness.append(batch_of(b"b", timestamp_ms=NOW_MS + 1000))
    assert len(harness.log.segments) == 1
    harness.append(batch_of(b"c", timestamp_ms=NOW_MS + 1001))
    assert [s.base_offset for s in harness.log.segments] == [0, 2]
    harness.reopen()
    harness.append(batch_of(b"d", timestamp_ms=NOW_MS + 2002))
    assert [s.base_offset for s in harness.log.segments] == [0, 2, 3]


def test_rolling_by_index_size(disk: SimulatedDisk) -> None:
    harness = Harness(disk, LogConfig(segment_index_bytes=36, index_interval_bytes=0))
    for n in range(10):
        harness.append(batch_of(b"a", timestamp_ms=NOW_MS + n))
    assert len(harness.log.segments) > 2
    for segment in harness.log.segments:
        assert len(segment.time_index.entries) <= 3


def test_rolling_by_relative_offset(disk: SimulatedDisk, harness: Harness) -> None:
    harness.append(batch_of(b"a"))
    fetched = bytearray(harness.read(0, 9999))
    fetched[:8] = (5_000_000_000).to_bytes(8, "big")
    follower = Harness(disk, directory="/logs/t-1")
    follower.log.append_as_follower(fetched, now_ms=NOW_MS)
    follower.log.write_staged()
    assert [s.base_offset for s in follower.log.segments] == [0, 5_000_000_000]
    assert follower.values() == [(5_000_000_000, b"a")]


def test_a_failed_write_ends_the_use_of_the_log(disk: SimulatedDisk, harness: Harness) -> None:
    harness.append(batch_of(b"kept"))
    used = disk.capacity_bytes - disk.room_bytes()
    disk.capacity_bytes = used + 10
    with pytest.raises(LogFailedError) as failure:
        harness.append(batch_of(b"lost"))
    assert isinstance(failure.value.__cause__, OSError)
    assert failure.value.__cause__.errno == errno.ENOSPC
    with pytest.raises(LogFailedError):
        harness.append(batch_of(b"refused"))
    disk.capacity_bytes += 10_000
    opened = harness.reopen_after_crash(0)
    assert opened.damages[0].cut_bytes == 10
    assert harness.values() == [(0, b"kept")]
    harness.append(batch_of(b"next"))
    assert harness.values() == [(0, b"kept"), (1, b"next")]


def test_a_failed_sync_ends_the_use_of_the_log(disk: SimulatedDisk, harness: Harness) -> None:
    harness.append(batch_of(b"a"))
    disk.failing = {"sync"}
    with pytest.raises(LogFailedError):
        harness.log.flush()
    disk.failing = set()
    assert harness.log.recovery_point == 0
    with pytest.raises(LogFailedError):
        harness.append(batch_of(b"b"))


def test_flushing_moves_the_recovery_point(disk: SimulatedDisk) -> None:
    harness = Harness(disk, SMALL_SEGMENTS)
    log = harness.log
    assert log.begin_flush() is None
    for n in range(20):
        harness.append(batch_of(b"%d" % n))
    log.flush()
    assert log.recovery_point == 20
    assert log.begin_flush() is None
    log.roll(now_ms=NOW_MS)
    assert log.begin_flush() is not None, "the sealed segment's indexes"
    assert sorted(disk.names(DIRECTORY)) == sorted(
        {
            "leader-epoch-checkpoint",
            *(path.rpartition("/")[2] for s in log.segments for path in s.paths),
            *(log.snapshots.path(o).rpartition("/")[2] for o in log.snapshots.offsets),
        }
    )


def test_high_watermark_and_last_stable_offset(harness: Harness) -> None:
    # pitfall 12
    log = harness.log
    harness.append(batch_of(b"a"))
    harness.append(batch_of(b"b", producer_id=1, epoch=0, sequence=0, transactional=True))
    harness.append(batch_of(b"c"))
    log.update_high_watermark(99)
    assert log.high_watermark == 3
    assert log.last_stable_offset == 1
    harness.append_marker(1, 0, commit=False)
    assert log.last_stable_offset == 1
    log.update_high_watermark(3)
    assert log.last_stable_offset == 1
    log.update_high_watermark(4)
    assert log.last_stable_offset == 4
