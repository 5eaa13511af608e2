import asyncio
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from snakka.protocol.records.batch import HEADER_BYTES, batches
from snakka.protocol.records.compression import Compression
from snakka.storage.compaction.cleaner import CleaningStoppedError
from snakka.storage.compaction.compact import Compacted, compact, look_at
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.config import CleanerConfig, LogConfig
from snakka.storage.errors import UncleanableError
from snakka.storage.lookup import find_aborted_transactions
from snakka.storage.names import LOG_SUFFIX
from snakka.storage.retention import enforce_retention
from snakka.storage.truncation import truncate_to
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import DIRECTORY, NOW_MS, Harness, batch_of, keyed

CONFIG = LogConfig(
    segment_bytes=1000, index_interval_bytes=100, is_compacted=True, is_deleted=False
)


@pytest.fixture
def harness(disk: SimulatedDisk) -> Harness:
    return Harness(disk, CONFIG)


def fill(harness: Harness, count: int = 60, keys: int = 7) -> None:
    for n in range(count):
        harness.append(keyed((b"%d" % (n % keys), b"value-%d" % n)))
    harness.log.roll(now_ms=NOW_MS)


def passages(disk: SimulatedDisk) -> list[str]:
    return [n for n in disk.names(DIRECTORY) if n.endswith((".cleaned", ".swap", ".deleted"))]


def test_the_last_value_of_every_key_stays(disk: SimulatedDisk, harness: Harness) -> None:
    fill(harness)
    before, segments = harness.content(), len(harness.log.segments)
    result = harness.compact()
    assert harness.content() == before
    assert len(harness.values()) == 7
    assert [offset for offset, _ in harness.values()] == list(range(53, 60))
    assert result.end_offset == 60
    assert result.bytes_after < result.bytes_before
    harness.compact(result.end_offset - 10)
    assert len(harness.log.segments) < segments, "by what they were, and then by what is left"
    assert passages(disk) == []
    for opened in (harness.reopen(), harness.reopen_after_crash(0)):
        assert opened.damages == ()
        assert harness.content() == before
        assert harness.log.log_end_offset == 60


def test_a_second_pass_finds_nothing_to_do(harness: Harness) -> None:
    fill(harness)
    first = harness.compact()
    assert look_at(harness.log, first.end_offset, now_ms=NOW_MS).dirty_bytes == 0
    again = harness.compact()
    assert again.bytes_after == again.bytes_before


def test_offsets_and_positions_survive(harness: Harness) -> None:
    fill(harness)
    harness.compact()
    for offset in range(61):
        expected = [entry for entry in harness.values(0) if entry[0] >= offset]
        assert harness.values(offset) == expected


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


def test_what_an_open_transaction_holds_back_is_left_alone(harness: Harness) -> None:
    fill(harness, 20)
    harness.append(keyed((b"0", b"open"), producer_id=1, epoch=0, sequence=0, transactional=True))
    fill(harness, 20)
    result = harness.compact()
    assert result.end_offset == 20
    assert [offset for offset, _ in harness.values()][-21:] == list(range(20, 41))


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


def test_a_map_that_is_too_small_takes_several_passes(harness: Harness) -> None:
    fill(harness, 100, keys=40)
    before = harness.content()
    config = CleanerConfig(dedupe_buffer_size=256, io_buffer_load_factor=0.9)
    passes, cleaned_offset = 0, 0
    while cleaned_offset < 100:
        result = harness.compact(cleaned_offset, config)
        assert result.end_offset > cleaned_offset
        cleaned_offset, passes = result.end_offset, passes + 1
    assert passes > 3
    assert harness.content() == before
    assert len(harness.values()) == 40


def test_one_batch_with_too_many_keys_is_reported(harness: Harness) -> None:
    harness.append(keyed(*((b"%d" % n, b"") for n in range(20))))
    harness.log.roll(now_ms=NOW_MS)
    with pytest.raises(UncleanableError, match="more keys"):
        harness.compact(0, CleanerConfig(dedupe_buffer_size=256))


def test_damage_stops_it_and_loses_nothing(disk: SimulatedDisk, harness: Harness) -> None:
    # pitfall 21
    fill(harness)
    segment = harness.log.segments[2]
    bad = segment.find_batch(segment.base_offset + 2)
    assert bad is not None
    names = disk.names(DIRECTORY)
    disk.flip_bit(segment.path(LOG_SUFFIX), bad.position + HEADER_BYTES + 9)
    with pytest.raises(UncleanableError) as raised:
        harness.compact()
    assert raised.value.path == segment.path(LOG_SUFFIX)
    assert raised.value.position == bad.position
    assert sorted(disk.names(DIRECTORY)) == sorted(names)
    disk.flip_bit(segment.path(LOG_SUFFIX), bad.position + HEADER_BYTES + 9)
    assert len(harness.values()) == 60
    harness.compact()
    assert len(harness.values()) == 7


def test_a_full_disk_stops_it_and_loses_nothing(disk: SimulatedDisk, harness: Harness) -> None:
    fill(harness, keys=60)
    before = harness.content()
    capacity = disk.capacity_bytes
    disk.capacity_bytes += 500 - disk.room_bytes()
    with pytest.raises(OSError, match="No space"):
        harness.compact()
    disk.capacity_bytes = capacity
    assert [name for name in passages(disk) if not name.endswith(".deleted")] == []
    assert harness.content() == before
    harness.compact()
    assert harness.content() == before
    assert len(harness.values()) == 60


def test_readers_keep_what_they_hold(harness: Harness) -> None:
    fill(harness)
    log = harness.log
    read = log.read(0, max_bytes=1 << 20, max_offset=60)
    before = read.copy()
    harness.compact()
    assert read.copy() == before


def test_readers_go_no_further_than_before(harness: Harness) -> None:
    fill(harness, keys=60)

    def offsets_below(bound: int) -> list[int]:
        read = harness.log.read(0, max_bytes=1 << 20, max_offset=bound)
        return [batch.header.base_offset for batch in batches(read.copy())]

    assert offsets_below(33) == list(range(33))
    harness.compact()
    assert offsets_below(33) == list(range(33))


def test_a_producer_whose_earlier_transaction_was_aborted(harness: Harness) -> None:
    transact(harness, 1, 0, b"aborted", commit=False)
    harness.append(keyed((b"k", b"old")))
    harness.log.roll(now_ms=NOW_MS)
    first_dirty = harness.compact().end_offset
    transact(harness, 1, 1, b"new", commit=True)
    harness.log.roll(now_ms=NOW_MS)
    harness.compact(first_dirty)
    assert [value for _, value in harness.values()] == [b"new"]


def test_a_cut_in_the_meantime_voids_it(disk: SimulatedDisk, harness: Harness) -> None:
    fill(harness)
    harness.log.update_high_watermark(60)
    compaction = harness.begin_compaction()
    compaction.map_keys()
    compaction.clean_next()
    truncate_to(harness.log, 3)
    assert not compaction.place()
    assert passages(disk) == [] or all(n.endswith(".deleted") for n in passages(disk))
    assert [offset for offset, _ in harness.values()] == [0, 1, 2]


def test_retention_in_the_meantime_voids_it(disk: SimulatedDisk, harness: Harness) -> None:
    harness.log.config = replace(CONFIG, is_deleted=True, retention_bytes=1500)
    fill(harness)
    harness.log.update_high_watermark(60)

    async def run() -> Compacted | None:
        compaction = harness.begin_compaction()
        enforce_retention(harness.log, now_ms=NOW_MS)
        harness.log.segments.delete_retired()
        with ThreadPoolExecutor(1) as threads:
            return await compact(compaction, threads)

    assert asyncio.run(run()) is None
    start = harness.log.log_start_offset
    assert [offset for offset, _ in harness.values()] == list(range(start, 60))
    harness.compact(start)
    assert len(harness.values()) == 7


def test_appends_go_on_meanwhile(harness: Harness) -> None:
    fill(harness, 200)
    harness.log.update_high_watermark(200)

    async def run() -> Compacted | None:
        with ThreadPoolExecutor(1) as threads:
            running = asyncio.create_task(compact(harness.begin_compaction(), threads))
            n = 200
            while not running.done():
                harness.append(keyed((b"%d" % (n % 7), b"value-%d" % n)))
                n += 1
                await asyncio.sleep(0)
            return await running

    result = asyncio.run(run())
    assert result is not None
    assert result.end_offset == 200
    log = harness.log
    assert log.log_end_offset > 200
    offsets = [offset for offset, _ in harness.values()]
    assert offsets == [*range(193, 200), *range(200, log.log_end_offset)]


def test_cancelling_waits_for_the_thread(disk: SimulatedDisk, harness: Harness) -> None:
    fill(harness, 200)
    harness.log.update_high_watermark(200)
    batches_seen = 0

    def now_s() -> float:
        nonlocal batches_seen
        batches_seen += 1
        time.sleep(0.001)
        return 0.0

    async def run() -> None:
        throttle = Throttle(math.inf, now_s)
        compaction = harness.begin_compaction(throttle=throttle)
        with ThreadPoolExecutor(1) as threads:
            running = asyncio.create_task(compact(compaction, threads))
            while batches_seen < 5:
                await asyncio.sleep(0)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        with pytest.raises(CleaningStoppedError):
            compaction.map_keys()

    asyncio.run(run())
    assert batches_seen < 200
    assert len(harness.values()) == 200
    assert passages(disk) == []


def test_nothing_half_done_is_left_to_confuse_an_opening(
    disk: SimulatedDisk, harness: Harness
) -> None:
    fill(harness)
    harness.log.update_high_watermark(60)
    compaction = harness.begin_compaction()
    compaction.map_keys()
    compaction.clean_next()
    assert any(name.endswith(".cleaned") for name in passages(disk))
    compaction.discard()
    assert passages(disk) == []
    disk.open(f"{DIRECTORY}/00000000000000000000.log.cleaned", create=True)
    harness.begin_compaction().map_keys()
    assert passages(disk) == []


def test_followers_compact_what_they_replicated(disk: SimulatedDisk, harness: Harness) -> None:
    # pitfall 18
    disk.make_directory("/logs/t-1")
    fill(harness)
    follower = Harness(disk, CONFIG, "/logs/t-1")
    harness.compact()
    for batch in harness.batches():
        follower.log.append_as_follower(batch.data, now_ms=NOW_MS)
    follower.log.write_staged()
    assert follower.content() == harness.content()
    assert follower.log.log_end_offset == 60
    follower.log.roll(now_ms=NOW_MS)
    follower.compact()
    assert follower.values() == harness.values()


def test_throttle() -> None:
    now_s, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now_s[0] += seconds

    throttle = Throttle(1000, lambda: now_s[0], sleep)
    for _ in range(10):
        throttle.after(500)
    assert 4.9 < now_s[0] < 5.1
    yielding = Throttle(float("inf"), lambda: now_s[0], sleep)
    slept.clear()
    for _ in range(100):
        now_s[0] += 0.0005
        yielding.after(1 << 20)
    assert 20 < len(slept) < 50
    assert max(slept) < 0.001


def test_batches_larger_than_the_window(harness: Harness) -> None:
    harness.log.config = replace(CONFIG, segment_bytes=8 << 20, max_message_bytes=4 << 20)
    harness.append(keyed((b"a", bytes(2 << 20)), (b"b", b"1")))
    harness.append(keyed((b"c", bytes(2 << 20))))
    harness.append(batch_of(b"x", timestamp_ms=NOW_MS))
    harness.append(keyed((b"b", b"2")))
    harness.log.roll(now_ms=NOW_MS)
    before = harness.content()
    harness.compact()
    assert harness.content() == before
    assert [offset for offset, _ in harness.values()] == [0, 2, 3, 4]
