import pytest

from snakka.protocol.records.batch import HEADER_BYTES
from snakka.protocol.records.compression import Compression
from snakka.storage.lookup import find_aborted_transactions
from tests.simulation.disk import SimulatedDisk
from tests.storage.compaction.filling import CONFIG, fill
from tests.storage.making import NOW_MS, Harness, keyed


@pytest.mark.parametrize("compression", Compression)
def test_thinned_batches_keep_codec_sequence_and_time(
    harness: Harness, compression: Compression
) -> None:
    records = [(b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"c", b"4"), (b"b", b"5")]
    harness.append(keyed(*records, compression=compression, producer_id=7, epoch=1, sequence=0))
    harness.log.roll(now_ms=NOW_MS)
    harness.compact()
    (batch,) = harness.batches()
    batch.verify_crc()
    header = batch.header
    assert [(r.offset, r.key, r.value, r.timestamp_ms - NOW_MS) for r in batch.records()] == [
        (2, b"a", b"3", 2),
        (3, b"c", b"4", 3),
        (4, b"b", b"5", 4),
    ]
    assert (header.base_offset, header.last_offset, header.base_sequence) == (0, 4, 0)
    assert (header.compression, header.max_timestamp) == (compression, NOW_MS + 4)
    assert (header.producer_id, header.producer_epoch) == (7, 1)


def test_tombstones_go_after_the_delete_horizon(harness: Harness) -> None:
    harness.append(keyed((b"a", b"1")))
    harness.append(keyed((b"a", None), (b"b", b"2")))
    harness.log.roll(now_ms=NOW_MS)
    harness.compact()
    retention_ms = CONFIG.delete_retention_ms
    (batch,) = harness.batches()
    assert batch.header.has_delete_horizon
    assert batch.header.base_timestamp == NOW_MS + retention_ms
    assert [(r.key, r.value, r.timestamp_ms) for r in batch.records()] == [
        (b"a", None, NOW_MS),
        (b"b", b"2", NOW_MS + 1),
    ]
    harness.now_ms = NOW_MS + retention_ms - 1
    harness.compact()
    assert harness.content() == {b"a": None, b"b": b"2"}
    harness.now_ms += 1
    harness.compact()
    assert harness.content() == {b"b": b"2"}
    (batch,) = harness.batches()
    assert [record.timestamp_ms for record in batch.records()] == [NOW_MS + 1]


def transact(harness: Harness, producer: int, sequence: int, value: bytes, *, commit: bool) -> None:
    harness.append(
        keyed((b"k", value), producer_id=producer, epoch=0, sequence=sequence, transactional=True)
    )
    harness.append_marker(producer, 0, commit=commit)


def test_aborted_records_never_win(harness: Harness) -> None:
    # pitfall 7
    transact(harness, 1, 0, b"committed", commit=True)
    transact(harness, 2, 0, b"aborted", commit=False)
    harness.append(keyed((b"other", b"x")))
    harness.log.roll(now_ms=NOW_MS)
    harness.compact()
    values = harness.values()
    assert values == [(0, b"committed"), (4, b"x")]
    markers = [b.header.base_offset for b in harness.batches() if b.header.is_control]
    assert markers == [1, 3], "markers stay, for readers in the midst of the log"


def test_markers_go_once_their_batches_and_the_horizon_have_passed(harness: Harness) -> None:
    transact(harness, 1, 0, b"aborted", commit=False)
    transact(harness, 1, 1, b"old", commit=True)
    transact(harness, 2, 0, b"new", commit=True)
    harness.append(keyed((b"x", b"y"), producer_id=1, epoch=0, sequence=2))
    harness.append(keyed((b"z", b"y")))
    harness.log.roll(now_ms=NOW_MS)

    def markers() -> list[tuple[int, bool]]:
        headers = [batch.header for batch in harness.batches()]
        return [(h.base_offset, h.has_delete_horizon) for h in headers if h.is_control]

    harness.compact()
    assert markers() == [(1, False), (3, False), (5, False)]
    assert len(find_aborted_transactions(harness.log, 0, 6)) == 1
    harness.compact()
    assert markers() == [(1, True), (3, True), (5, False)]
    assert find_aborted_transactions(harness.log, 0, 6) == []
    harness.now_ms += CONFIG.delete_retention_ms
    harness.compact()
    assert markers() == [(5, False)]
    assert harness.content() == {b"k": b"new", b"x": b"y", b"z": b"y"}


def test_a_transaction_over_several_groups(harness: Harness) -> None:
    for n in range(30):
        harness.append(
            keyed(
                (b"%d" % (n % 3), b"x" * 100),
                producer_id=1,
                epoch=0,
                sequence=n,
                transactional=True,
            )
        )
        harness.append(keyed((b"%d" % (n % 3), b"kept-%d" % n)))
    harness.append_marker(1, 0, commit=False)
    harness.log.roll(now_ms=NOW_MS)
    harness.compact()
    assert [value for _, value in harness.values()] == [b"kept-27", b"kept-28", b"kept-29"]
    (aborted,) = find_aborted_transactions(harness.log, 0, 61)
    assert (aborted.first_offset, aborted.last_offset) == (0, 60)
    assert [b.header.base_offset for b in harness.batches() if b.header.is_control] == [60]


def test_producers_go_on_where_they_were(disk: SimulatedDisk, harness: Harness) -> None:
    harness.append(keyed((b"a", b"1"), producer_id=5, epoch=3, sequence=0))
    harness.append(keyed((b"a", b"2"), producer_id=5, epoch=3, sequence=1))
    harness.append(keyed((b"a", b"3")))
    fill(harness)
    harness.compact()
    empty = harness.batches()[0]
    assert (empty.header.base_offset, empty.header.record_count) == (1, 0)
    assert empty.header.size_bytes == HEADER_BYTES
    for offset in list(harness.log.snapshots.offsets):
        harness.log.snapshots.remove(offset)
    harness.reopen_after_crash(0)
    again = harness.append(keyed((b"a", b"2"), producer_id=5, epoch=3, sequence=1))
    assert again.is_duplicate
    harness.append(keyed((b"a", b"4"), producer_id=5, epoch=3, sequence=2))


def test_the_end_of_a_pass_stays_known(harness: Harness) -> None:
    """Where the last batches go, followers still have to learn up to where the log reaches."""
    for _ in range(2):
        harness.append(keyed((None, b"no key: it goes")))
    harness.log.roll(now_ms=NOW_MS)
    harness.compact()
    (batch,) = harness.batches()
    assert (batch.header.next_offset, batch.header.record_count) == (2, 0)


def test_a_producer_whose_earlier_transaction_was_aborted(harness: Harness) -> None:
    transact(harness, 1, 0, b"aborted", commit=False)
    harness.append(keyed((b"k", b"old")))
    harness.log.roll(now_ms=NOW_MS)
    first_dirty = harness.compact().end_offset
    transact(harness, 1, 1, b"new", commit=True)
    harness.log.roll(now_ms=NOW_MS)
    harness.compact(first_dirty)
    assert [value for _, value in harness.values()] == [b"new"]
