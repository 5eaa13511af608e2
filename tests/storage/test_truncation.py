import pytest

from snakka.protocol.records.batch import batches
from snakka.storage.config import LogConfig
from snakka.storage.epochs import EpochEndOffset
from snakka.storage.lookup import find_aborted_transactions
from snakka.storage.truncation import Truncation, find_truncation, truncate_fully, truncate_to
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import Harness, batch_of


@pytest.fixture
def harness(disk: SimulatedDisk) -> Harness:
    harness = Harness(disk, LogConfig(segment_bytes=500, index_interval_bytes=100))
    for n in range(40):
        harness.append(batch_of(b"%d" % n, timestamp_ms=1000 + n), leader_epoch=n // 10)
    return harness


def offsets(harness: Harness) -> list[int]:
    return [offset for offset, _ in harness.values()]


@pytest.mark.parametrize("target", [0, 1, 5, 6, 7, 20, 38, 39])
def test_truncation_to_an_offset(harness: Harness, target: int) -> None:
    assert truncate_to(harness.log, target)
    assert offsets(harness) == list(range(target))
    harness.append(batch_of(b"new"), leader_epoch=9)
    assert harness.values()[-1] == (target, b"new")
    assert harness.log.epochs.entries[-1] == (9, target)
    harness.reopen()
    assert offsets(harness) == list(range(target + 1))
    harness.reopen_after_crash(0)
    assert offsets(harness) == list(range(target + 1))


def test_truncating_at_the_end_drops_only_an_epoch_without_records(harness: Harness) -> None:
    harness.log.epochs.assign(7, 40)
    assert not truncate_to(harness.log, 40)
    assert offsets(harness) == list(range(40))
    assert harness.log.epochs.latest_epoch == 3


def test_a_batch_is_cut_as_a_whole(disk: SimulatedDisk) -> None:
    harness = Harness(disk)
    harness.append(batch_of(b"a"))
    harness.append(batch_of(b"b", b"c", b"d"))
    truncate_to(harness.log, 2)
    assert offsets(harness) == [0]
    assert harness.log.log_end_offset == 1


def test_a_cut_is_durable(disk: SimulatedDisk, harness: Harness) -> None:
    harness.log.flush()
    truncate_to(harness.log, 12)
    disk.crash()
    harness.reopen_after_crash()
    assert offsets(harness) == list(range(12))


def test_what_replaces_a_cut_does_not_pass_for_flushed(
    disk: SimulatedDisk, harness: Harness
) -> None:
    harness.log.flush()
    unflushed = harness.log.begin_flush()
    assert unflushed is None
    harness.append(batch_of(b"x"))
    unflushed = harness.log.begin_flush()
    assert unflushed is not None
    unflushed.sync(disk)
    truncate_to(harness.log, 12)
    for n in range(40):
        harness.append(batch_of(b"%d" % n))
    harness.log.end_flush(unflushed)
    assert harness.log.recovery_point == 12


def test_truncating_fully(disk: SimulatedDisk, harness: Harness) -> None:
    truncate_fully(harness.log, 1000)
    log = harness.log
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (1000, 1000, 1000)
    assert log.epochs.entries == ()
    harness.append(batch_of(b"new"))
    assert harness.values() == [(1000, b"new")]
    harness.reopen()
    assert harness.values() == [(1000, b"new")]
    truncate_fully(harness.log, 2000, log_start_offset=500)
    assert harness.log.log_start_offset == 500
    harness.log.segments.delete_retired()
    assert not [name for name in disk.names("/logs/t-0") if name.endswith(".deleted")]


def test_truncating_before_the_first_segment_starts_anew(harness: Harness) -> None:
    harness.log.update_high_watermark(40)
    harness.log.advance_log_start(harness.log.segments[2].base_offset)
    harness.log.segments.remove_first(2)
    truncate_to(harness.log, 3)
    assert harness.log.log_start_offset == harness.log.log_end_offset == 3


def test_producers_and_transactions_are_those_of_what_is_left(disk: SimulatedDisk) -> None:
    # pitfall 3
    harness = Harness(disk, LogConfig(segment_bytes=500, index_interval_bytes=100))
    log = harness.log
    for n in range(3):
        batch = batch_of(b"t", producer_id=5, epoch=0, sequence=n, transactional=True)
        harness.append(batch)
        harness.append_marker(5, 0, commit=n == 0)
    harness.append(batch_of(b"t", producer_id=5, epoch=0, sequence=3, transactional=True))
    assert len(find_aborted_transactions(log, 0, 99)) == 2
    truncate_to(log, 5)
    assert [entry[:3] for entry in find_aborted_transactions(log, 0, 99)] == [(5, 2, 3)]
    entry = log.producers.find(5)
    assert entry is not None
    assert (entry.last_sequence, entry.current_txn_first_offset) == (2, 4)
    log.update_high_watermark(5)
    assert log.last_stable_offset == 4
    harness.append_marker(5, 0, commit=True)
    log.update_high_watermark(6)
    assert log.last_stable_offset == 6


def test_a_follower_finds_where_it_parted_from_its_leader(harness: Harness) -> None:
    log = harness.log  # epochs 0..3, ten offsets each
    log.update_high_watermark(25)
    same = find_truncation(log, 3, EpochEndOffset(3, 50))
    assert same == Truncation(40, is_final=True)
    shorter = find_truncation(log, 3, EpochEndOffset(3, 35))
    assert shorter == Truncation(35, is_final=True)
    older = find_truncation(log, 3, EpochEndOffset(1, 15))
    assert older == Truncation(15, is_final=True)
    unknown_here = find_truncation(log, 3, EpochEndOffset(7, 60))
    assert unknown_here == Truncation(40, is_final=True)
    unknown_there = find_truncation(log, 3, None)
    assert unknown_there == Truncation(25, is_final=True)
    truncate_to(log, 20)
    log.epochs.assign(5, 20)
    gap = find_truncation(log, 5, EpochEndOffset(4, 33))
    assert gap == Truncation(20, is_final=False)


def test_indexes_fit_after_truncation(harness: Harness) -> None:
    truncate_to(harness.log, 17)
    for segment in harness.log.segments:
        for batch in batches(segment.file.read(0, segment.size_bytes)):
            found = segment.find_batch(batch.header.last_offset)
            assert found is not None
            assert found.header.base_offset == batch.header.base_offset
    assert harness.log.segments.active.largest_timestamp.timestamp == 1016
