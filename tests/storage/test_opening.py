"""Opening after clean shutdowns, crashes and damage of every kind of file."""

import random

import pytest

from snakka.storage.config import LogConfig
from snakka.storage.disk import File, LocalDisk, read_whole, replace_file
from snakka.storage.names import find_offset_file
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed, open_log
from snakka.storage.scan import SWEEP_WINDOW_BYTES
from tests.simulation.disk import SimulatedDisk, SimulatedFile
from tests.storage.making import DIRECTORY, NOW_MS, Harness, batch_of

COUNT = 30
CONFIG = LogConfig(segment_bytes=500, index_interval_bytes=100)


@pytest.fixture
def harness(disk: SimulatedDisk) -> Harness:
    """Records 0..29 in several segments, some in transactions, all of them synced."""
    harness = Harness(disk, CONFIG)
    for n in range(COUNT // 3):
        batch = batch_of(b"%d" % n, producer_id=7, epoch=0, sequence=n, transactional=True)
        harness.append(batch, leader_epoch=n // 4)
        harness.append_marker(7, 0, commit=n % 2 == 0, leader_epoch=n // 4)
        harness.append(batch_of(b"-%d" % n), leader_epoch=n // 4)
    harness.log.shut_down()
    return harness


def facts(harness: Harness) -> tuple[object, ...]:
    log = harness.log
    return (
        harness.values(),
        log.epochs.entries,
        [(e.last_sequence, e.current_txn_first_offset) for e in log.producers.entries],
        [list(s.transaction_index.entries()) for s in log.segments if s.has_transaction_index],
        [read_whole(harness.disk, path) for s in log.segments for path in s.paths],
        [segment.largest_timestamp for segment in log.segments],
        (log.log_start_offset, log.log_end_offset),
    )


def names(disk: SimulatedDisk, suffix: str) -> list[str]:
    return sorted(f"{DIRECTORY}/{n}" for n in disk.names(DIRECTORY) if n.endswith(suffix))


def test_nothing_changes_by_opening(harness: Harness) -> None:
    before = facts(harness)
    for _ in range(2):
        opened = harness.reopen()
        assert (opened.damages, opened.rebuilt) == ((), ())
        assert facts(harness) == before
    for recovery_point in (0, 1, 10, 29, COUNT):
        opened = harness.reopen_after_crash(recovery_point)
        assert (opened.damages, opened.rebuilt) == ((), ())
        assert facts(harness) == before


@pytest.mark.parametrize("suffix", [".index", ".timeindex", ".txnindex", ".snapshot"])
@pytest.mark.parametrize("how", ["missing", "empty", "torn", "zeros", "flipped"])
def test_what_lies_beside_the_records_is_rebuilt(
    disk: SimulatedDisk, harness: Harness, suffix: str, how: str
) -> None:
    before = facts(harness)
    for path in names(disk, suffix):
        data = read_whole(disk, path)
        if how == "missing":
            disk.remove(path)
        elif how == "flipped":
            if data:
                disk.flip_bit(path, len(data) // 2)
        else:
            damaged = {"empty": b"", "torn": data + b"\0\0\0", "zeros": data + bytes(4080)}
            replace_file(disk, path, damaged[how])
    harness.reopen_after_crash(0)
    assert harness.opened.damages == ()
    after = facts(harness)
    assert after == before


def test_missing_indexes_are_rebuilt_after_a_clean_shutdown_too(
    disk: SimulatedDisk, harness: Harness
) -> None:
    before = facts(harness)
    path = names(disk, ".timeindex")[1]
    disk.remove(path)
    opened = harness.open(Checkpointed(0, COUNT, is_clean=True))
    assert opened.rebuilt == (path,)
    assert facts(harness) == before


def test_a_flipped_index_does_not_mislead_reads(disk: SimulatedDisk, harness: Harness) -> None:
    before = harness.values()
    for path in names(disk, ".index"):
        for position in range(7, len(read_whole(disk, path)), 8):
            disk.flip_bit(path, position, bit=3)
    harness.open(Checkpointed(0, COUNT, is_clean=True))
    assert harness.values() == before
    for offset, value in before:
        assert harness.values(offset)[0] == (offset, value)


def test_a_damaged_epoch_checkpoint_is_rebuilt(disk: SimulatedDisk, harness: Harness) -> None:
    before = facts(harness)
    replace_file(disk, f"{DIRECTORY}/leader-epoch-checkpoint", b"0\n9\n")
    opened = harness.open(Checkpointed(0, COUNT, is_clean=True))
    assert opened.rebuilt == (f"{DIRECTORY}/leader-epoch-checkpoint",)
    assert facts(harness) == before


def test_a_torn_tail_is_cut_at_the_last_whole_batch(disk: SimulatedDisk, harness: Harness) -> None:
    before = harness.values()
    path = names(disk, ".log")[-1]
    size = len(read_whole(disk, path))
    batch = bytes(batch_of(b"torn"))
    for kept in (1, 12, 60, 61, len(batch) - 1):
        file = disk.open(path)
        torn = COUNT.to_bytes(8, "big") + batch[8:kept] if kept > 8 else batch[:kept]
        file.write([torn], size)
        (damage,) = harness.reopen_after_crash(COUNT).damages
        assert (damage.path, damage.position, damage.cut_bytes) == (path, size, len(torn))
        assert damage.kept_aside is None
        assert harness.values() == before
    harness.append(batch_of(b"next"))
    assert harness.values()[-1] == (COUNT, b"next")


def test_a_corrupt_batch_in_the_middle_is_reported_and_kept(
    disk: SimulatedDisk, harness: Harness
) -> None:
    # pitfall 24
    before = harness.values()
    first_log, *later_logs = names(disk, ".log")
    contents = {path: read_whole(disk, path) for path in (first_log, *later_logs)}
    found = harness.log.segments[0].find_batch(2)
    assert found is not None
    disk.flip_bit(first_log, found.position + 70)
    damaged = read_whole(disk, first_log)
    opened = harness.reopen_after_crash(0)
    assert harness.values() == [item for item in before if item[0] < 2]
    first = opened.damages[0]
    assert (first.path, first.position) == (first_log, found.position)
    assert "CRC32C" in first.reason
    assert first.kept_aside is not None
    assert read_whole(disk, first.kept_aside) == damaged[found.position :]
    assert [damage.path for damage in opened.damages[1:]] == later_logs[::-1]
    for damage in opened.damages[1:]:
        assert damage.kept_aside is not None
        assert read_whole(disk, damage.kept_aside) == contents[damage.path]
    harness.append(batch_of(b"next"))
    harness.reopen()
    assert harness.values()[-1] == (2, b"next")


def test_any_flipped_bit_of_records_is_found(disk: SimulatedDisk) -> None:
    # pitfall 24
    harness = Harness(disk)
    for n in range(4):
        harness.append(batch_of(b"%d" % n))
    harness.log.shut_down()
    before = harness.values()
    (path,) = names(disk, ".log")
    pristine = read_whole(disk, path)
    size = len(pristine) // 4
    for position in range(size, 2 * size):
        if size + 12 <= position < size + 16:
            continue  # the leader epoch is outside of the CRC
        replace_file(disk, path, pristine)
        for stale in names(disk, ".damaged"):
            disk.remove(stale)
        disk.flip_bit(path, position, bit=position % 8)
        opened = harness.reopen_after_crash(0)
        kept = harness.values()
        if size <= position < size + 8 and len(kept) == 4:
            continue  # an offset that still rises is outside of the CRC
        assert kept == before[: len(kept)], position
        assert len(opened.damages) == 1
        assert opened.damages[0].kept_aside is not None, position


def test_damage_below_the_recovery_point_does_not_stop_the_opening(
    disk: SimulatedDisk, harness: Harness
) -> None:
    for path in names(disk, ".snapshot"):
        disk.remove(path)
    disk.flip_bit(names(disk, ".log")[0], 16)
    opened = harness.reopen_after_crash(COUNT)
    assert opened.damages[0].position == 0
    assert opened.log.log_end_offset == 0


def test_a_log_that_ends_before_its_start_goes_on_at_its_start(
    disk: SimulatedDisk, harness: Harness
) -> None:
    sizes = [segment.size_bytes for segment in harness.log.segments]
    opened = harness.open(Checkpointed(100, 0))
    assert sorted(damage.cut_bytes for damage in opened.damages) == sorted(sizes)
    assert len(names(disk, ".damaged")) == len(sizes), "nobody knows which of the two is wrong"
    assert harness.log.log_start_offset == harness.log.log_end_offset == 100
    harness.append(batch_of(b"new"))
    assert harness.values() == [(100, b"new")]


def test_leftovers(disk: SimulatedDisk, harness: Harness) -> None:
    before = facts(harness)
    for name in (
        "00000000000000000000.log.deleted",
        "00000000000000000003.index.cleaned",
        "00000000000000000999.index",
        "leader-epoch-checkpoint.tmp",
        "00000000000000000005.log.swap",
    ):
        replace_file(disk, f"{DIRECTORY}/{name}", b"junk")
    harness.open(Checkpointed(0, COUNT, is_clean=True))
    assert facts(harness) == before
    for name in disk.names(DIRECTORY):
        found = find_offset_file(name)
        assert found is None or not found.state, name
        assert "999" not in name


def test_an_interrupted_swap_is_completed(disk: SimulatedDisk, harness: Harness) -> None:
    before = harness.values()
    first, second = list(harness.log.segments)[:2]
    merged = first.file.read(0, 9999) + second.file.read(0, 9999)
    replace_file(disk, first.path(".log") + ".swap", merged)
    for suffix in (".index", ".timeindex"):
        replace_file(disk, first.path(suffix) + ".swap", b"")
    harness.open(Checkpointed(0, 0))
    assert harness.values() == before
    assert harness.log.segments[0].size_bytes == len(merged)


class CountingDisk(SimulatedDisk):
    """Counts the bytes read from `.log` files, and the largest single read."""

    read_bytes = 0
    read_bytes_max = 0

    def open(self, path: str, *, create: bool = False) -> File:
        file = super().open(path, create=create)
        return CountingFile(self, file) if path.endswith(".log") else file


class CountingFile(SimulatedFile):
    def __init__(self, disk: CountingDisk, file: File) -> None:
        assert isinstance(file, SimulatedFile)
        super().__init__(disk, file._inode)
        self._counting = disk

    def read(self, position: int, size_bytes: int) -> bytes:
        data = super().read(position, size_bytes)
        self._counting.read_bytes += len(data)
        self._counting.read_bytes_max = max(self._counting.read_bytes_max, len(data))
        return data


@pytest.mark.parametrize("flushed", [20, 400])
def test_recovery_reads_what_lies_past_the_recovery_point(flushed: int) -> None:
    # pitfall 20
    disk = CountingDisk(random.Random(0))
    disk.make_directory("/logs")
    harness = Harness(disk, LogConfig(segment_bytes=1 << 20))
    for _ in range(flushed):
        harness.append(batch_of(bytes(10_000)))
    harness.log.roll(now_ms=NOW_MS)
    for _ in range(flushed // 4):
        harness.append(batch_of(bytes(10_000)))
    harness.log.flush()
    for _ in range(20):
        harness.append(batch_of(bytes(10_000)))
    disk.read_bytes = 0
    harness.reopen_after_crash()
    assert harness.log.log_end_offset == flushed + flushed // 4 + 20
    headers_only = 4096 * (flushed // 4)  # producers, from the last snapshot on
    assert disk.read_bytes < 20 * 10_200 + headers_only + 100_000


def test_recovery_takes_large_batches_in_pieces() -> None:
    # pitfall 20
    disk = CountingDisk(random.Random(0))
    disk.make_directory("/logs")
    harness = Harness(disk, LogConfig(max_message_bytes=1 << 24))
    harness.append(batch_of(bytes(3 * SWEEP_WINDOW_BYTES)))
    harness.append(batch_of(b"after"))
    disk.read_bytes_max = 0
    harness.reopen_after_crash(0)
    assert harness.log.log_end_offset == 2
    assert disk.read_bytes_max <= SWEEP_WINDOW_BYTES


def test_a_new_log_begins_where_it_is_told(disk: SimulatedDisk) -> None:
    opened = open_log(
        OpenFiles(disk),
        "/logs/new-0",
        CONFIG,
        random.Random(0),
        checkpointed=Checkpointed(log_start_offset=50),
        now_ms=0,
    )
    assert opened.log.log_start_offset == opened.log.log_end_offset == 50
    assert sorted(disk.names("/logs/new-0"))[:1] == ["00000000000000000050.index"]


def test_expired_producers_are_forgotten_on_opening(disk: SimulatedDisk) -> None:
    harness = Harness(disk, LogConfig(producer_id_expiration_ms=1000))
    harness.append(batch_of(b"a", producer_id=7, epoch=0, sequence=0))
    assert harness.log.producers.find(7) is not None
    harness.now_ms = NOW_MS + 1000
    harness.reopen()
    assert harness.log.producers.find(7) is None


def test_the_local_disk_is_used_in_the_same_way(tmp_path: object) -> None:
    harness = Harness(LocalDisk(), CONFIG, f"{tmp_path}/t-0")
    for n in range(20):
        harness.append(batch_of(b"%d" % n))
    harness.reopen()
    harness.reopen_after_crash(0)
    assert [offset for offset, _ in harness.values()] == list(range(20))


@pytest.mark.parametrize("is_clean", [False, True])
def test_no_damage_stops_the_opening(disk: SimulatedDisk, harness: Harness, is_clean: bool) -> None:
    before = harness.values()
    pristine = {name: read_whole(disk, f"{DIRECTORY}/{name}") for name in disk.names(DIRECTORY)}
    for seed in range(300):
        rng = random.Random(seed)
        for name in disk.names(DIRECTORY):
            disk.remove(f"{DIRECTORY}/{name}")
        for name, data in pristine.items():
            replace_file(disk, f"{DIRECTORY}/{name}", data)
        victims = rng.sample(sorted(pristine), rng.randint(1, 4))
        for name in victims:
            _damage(disk, f"{DIRECTORY}/{name}", rng)
        recovery_point = rng.choice([0, 10, COUNT])
        opened = harness.open(Checkpointed(0, recovery_point, is_clean=is_clean))
        is_unharmed = not any(name.endswith(".log") for name in victims)
        if (is_clean or recovery_point) and not is_unharmed:
            continue  # damaged records are met by whoever reads them
        kept = harness.values()
        assert kept == before or not is_unharmed, seed
        assert kept == before[: len(kept)], seed
        assert len(kept) == len(before) or opened.damages, seed
        harness.append(batch_of(b"next"))
        assert harness.reopen().damages == (), seed


def _damage(disk: SimulatedDisk, path: str, rng: random.Random) -> None:
    data = bytearray(read_whole(disk, path))
    if not data:
        data += b"junk"
    kind = rng.randrange(4)
    position = rng.randrange(len(data))
    if kind == 0:
        data[position] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[position:]
    elif kind == 2:
        data[position : position + 16] = bytes(min(16, len(data) - position))
    else:
        data += rng.randbytes(rng.randint(1, 100))
    replace_file(disk, path, bytes(data))
