import asyncio
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from snakka.protocol.records.batch import HEADER_BYTES, batches
from snakka.storage.compaction.cleaner import CleaningStoppedError
from snakka.storage.compaction.compact import Compacted, compact, look_at
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.config import CleanerConfig
from snakka.storage.errors import UncleanableError
from snakka.storage.names import LOG_SUFFIX
from snakka.storage.retention import enforce_retention
from snakka.storage.truncation import truncate_to
from tests.simulation.disk import SimulatedDisk
from tests.storage.compaction.filling import CONFIG, fill
from tests.storage.making import DIRECTORY, NOW_MS, Harness, batch_of, keyed


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


def test_what_an_open_transaction_holds_back_is_left_alone(harness: Harness) -> None:
    fill(harness, 20)
    harness.append(keyed((b"0", b"open"), producer_id=1, epoch=0, sequence=0, transactional=True))
    fill(harness, 20)
    result = harness.compact()
    assert result.end_offset == 20
    assert [offset for offset, _ in harness.values()][-21:] == list(range(20, 41))


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
