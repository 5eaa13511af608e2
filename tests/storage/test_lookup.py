import pytest

from snakka.storage.config import LogConfig
from snakka.storage.lookup import (
    find_aborted_transactions,
    find_max_timestamp,
    find_offset_by_timestamp,
    find_upper_bound_offset,
)
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import Harness, batch_of


@pytest.fixture
def harness(disk: SimulatedDisk) -> Harness:
    return Harness(disk, LogConfig(segment_bytes=400, index_interval_bytes=100))


def test_the_first_record_at_or_after_a_timestamp(harness: Harness) -> None:
    # pitfall 33
    for n in range(30):
        harness.append(batch_of(b"a", b"b", timestamp_ms=[100 * n, 100 * n + 50]), leader_epoch=2)
    harness.reopen()
    for n in range(30):
        assert find_offset_by_timestamp(harness.log, 100 * n) == (100 * n, 2 * n, 2)
        assert find_offset_by_timestamp(harness.log, 100 * n + 1) == (100 * n + 50, 2 * n + 1, 2)
    assert find_offset_by_timestamp(harness.log, 2951) is None
    assert find_offset_by_timestamp(harness.log, -5) == (0, 0, 2)
    harness.log.update_high_watermark(60)
    harness.log.advance_log_start(7)
    assert find_offset_by_timestamp(harness.log, 0) == (350, 7, 2)


def test_timestamps_that_do_not_rise(harness: Harness) -> None:
    stamps = [500, 100, 900, 200, 900, 300, 50, 1000, 10]
    for stamp in stamps:
        harness.append(batch_of(b"x" * 50, timestamp_ms=stamp))
    for target in (0, 100, 450, 500, 501, 900, 901, 1000):
        expected = next(n for n, stamp in enumerate(stamps) if stamp >= target)
        found = find_offset_by_timestamp(harness.log, target)
        assert found is not None
        assert found.offset == expected, target


def test_the_largest_timestamp(harness: Harness) -> None:
    # pitfall 33
    assert find_max_timestamp(harness.log) is None
    for stamps in ([5, 70, 60], [10, 90, 90], [90, 1], [80]):
        harness.append(batch_of(*[b"x" * 40] * len(stamps), timestamp_ms=stamps))
    assert find_max_timestamp(harness.log) == (90, 4, 0)
    harness.reopen()
    assert find_max_timestamp(harness.log) == (90, 4, 0)


def test_staged_records_are_not_found(harness: Harness) -> None:
    harness.append(batch_of(b"a", timestamp_ms=10))
    for n in range(2):
        batch = batch_of(b"x" * 40, timestamp_ms=50 + n)
        harness.log.append_as_leader(batch, leader_epoch=0, now_ms=0)
    assert find_offset_by_timestamp(harness.log, 20) is None
    assert find_max_timestamp(harness.log) == (10, 0, 0)


def test_aborted_transactions_of_all_segments(harness: Harness) -> None:
    # pitfall 19
    for n in range(12):
        batch = batch_of(b"x" * 30, producer_id=7, epoch=0, sequence=n, transactional=True)
        harness.append(batch)
        harness.append_marker(7, 0, commit=n % 3 == 0)
    assert len(harness.log.segments) > 4
    expected = [(7, 2 * n, 2 * n + 1, 2 * n + 2) for n in range(12) if n % 3]

    def check() -> None:
        for start in range(24):
            for bound in range(start + 1, 25):
                found = find_aborted_transactions(harness.log, start, bound)
                assert found == [e for e in expected if e[2] >= start and e[1] < bound]

    check()
    harness.reopen()
    check()
    harness.reopen_after_crash(0)
    check()


def test_a_transaction_that_spans_segments(harness: Harness) -> None:
    # pitfall 19
    harness.append(batch_of(b"t", producer_id=7, epoch=0, sequence=0, transactional=True))
    for _ in range(10):
        harness.append(batch_of(b"x" * 80))
    harness.append_marker(7, 0, commit=False)
    found = find_aborted_transactions(harness.log, 0, 3)
    assert [entry[:3] for entry in found] == [(7, 0, 11)]


def test_an_upper_bound_of_a_read(harness: Harness) -> None:
    for n in range(20):
        harness.append(batch_of(b"%d" % n))
    log = harness.log
    for offset in range(20):
        for max_bytes in (1, 100, 300, 800, 9999):
            read = log.read(offset, max_bytes=max_bytes, max_offset=20)
            upper = find_upper_bound_offset(log, read)
            last = -(-read.size_bytes // 72) + offset  # at least this far
            assert min(last, 20) <= upper <= 20
    empty = log.read(20, max_bytes=1, max_offset=20)
    assert find_upper_bound_offset(log, empty) == 0
