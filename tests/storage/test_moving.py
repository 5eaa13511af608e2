"""Moving a log between two directories: the copy, the swap, and a crash between any two steps."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from snakka.protocol.records.batch import batches
from snakka.storage.config import LogConfig
from snakka.storage.log import Log
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory
from snakka.storage.moving import Move, begin_move
from snakka.storage.names import TopicPartition
from snakka.storage.open_files import OpenFiles
from snakka.storage.producer_snapshot import encode_snapshot
from snakka.storage.residence import Fate, Residence
from snakka.storage.validate import AppendOrigin
from tests.simulation.disk import PowerCut, SimulatedDisk
from tests.storage.making import NOW_MS, TOPIC_ID, batch_of, marker_of

P = TopicPartition("t", 0)
CONFIG = LogConfig(segment_bytes=700, index_interval_bytes=100)
IDS = {"/a": TOPIC_ID, "/b": TOPIC_ID}


def opened(disk: SimulatedDisk, config: LogConfig = CONFIG) -> LogDirectories:
    directories = [
        LogDirectory.open(
            OpenFiles(disk), path, random.Random(0), lambda _: config, now_ms=NOW_MS
        ).directory
        for path in IDS
    ]
    return LogDirectories(IDS, directories, {})


def settle(directories: LogDirectories, expected: str) -> list[Fate]:
    done = directories.settle({P: Residence(TOPIC_ID, expected)}, now_ms=NOW_MS)
    return [fate for _, _, fate in done]


def append(log: Log, *values: bytes, epoch: int = 0) -> None:
    for value in values:
        log.append_as_leader(batch_of(value), leader_epoch=epoch, now_ms=NOW_MS)
    log.write_staged()
    log.update_high_watermark(log.log_end_offset)


def values(log: Log) -> list[bytes]:
    found = []
    data = log.read(log.log_start_offset, max_bytes=1 << 30, max_offset=log.log_end_offset).copy()
    for batch in batches(data):
        if not batch.header.is_control:
            found += [record.value or b"" for record in batch.records()]
    return found


def copy(move: Move, chunk_bytes: int = 1 << 20) -> None:
    while (cut := move.find_cut()) is not None:
        move.cut(cut)
    while not move.has_caught_up:
        move.append(move.read(chunk_bytes), now_ms=NOW_MS)


def finish(move: Move) -> Log:
    replaced = move.swap()
    log = move.target.logs[P]
    log.flush()
    move.finish(replaced, now_ms=NOW_MS)
    return log


@pytest.fixture
def directories(disk: SimulatedDisk) -> LogDirectories:
    directories = opened(disk)
    directories.create(P, TOPIC_ID, CONFIG, "/a", now_ms=NOW_MS)
    return directories


def begin(directories: LogDirectories) -> Move:
    return begin_move(
        directories.online["/a"], directories.online["/b"], P, TOPIC_ID, now_ms=NOW_MS
    )


def names(disk: SimulatedDisk, path: str) -> list[str]:
    return sorted(name for name in disk.names(path) if name.startswith("t-0"))


def test_a_moved_log_equals_its_source(disk: SimulatedDisk, directories: LogDirectories) -> None:
    log = directories.online["/a"].logs[P]
    for n in range(40):
        log.append_as_leader(
            batch_of(b"%d" % n, producer_id=7, epoch=0, sequence=n, transactional=True),
            leader_epoch=n // 10,
            now_ms=NOW_MS,
        )
    marker = marker_of(7, 0, commit=False)
    origin = AppendOrigin.COORDINATOR
    log.append_as_leader(marker, leader_epoch=4, now_ms=NOW_MS, origin=origin)
    append(log, b"plain", epoch=4)
    log.advance_log_start(3)
    move = begin(directories)
    (name,) = names(disk, "/b")
    assert name.startswith("t-0.")
    assert name.endswith("-future")
    copy(move, chunk_bytes=100)
    before = values(log), log.epochs.entries, encode_snapshot(log.producers.entries)
    moved = finish(move)
    assert (values(moved), moved.epochs.entries, encode_snapshot(moved.producers.entries)) == before
    assert (moved.log_start_offset, moved.high_watermark, moved.log_end_offset) == (3, 42, 42)
    assert moved.recovery_point == 42
    assert names(disk, "/b") == ["t-0"]
    (deleted,) = names(disk, "/a")
    assert deleted.endswith("-delete")
    append(moved, b"after", epoch=4)
    directories.online["/b"].shut_down(1)
    directories.online["/a"].shut_down(1)
    again = opened(disk).online["/b"].logs[P]
    assert values(again) == [*before[0], b"after"]
    assert again.log_start_offset == 3


def test_producers_of_records_that_are_gone_move_along(
    disk: SimulatedDisk, directories: LogDirectories
) -> None:
    log = directories.online["/a"].logs[P]
    for n in range(12):
        batch = batch_of(b"x" * 200, producer_id=7, epoch=0, sequence=n)
        log.append_as_leader(batch, leader_epoch=0, now_ms=NOW_MS)
    append(log, *[b"y" * 200] * 8)
    log.advance_log_start(15)
    log.segments.remove_first(4)
    log.flush()
    move = begin(directories)
    copy(move)
    move.future.flush()
    disk.crash()
    again = opened(disk)
    assert settle(again, "/a") == [Fate.RESUME]
    future = again.online["/b"].futures[P]
    assert [entry.producer_id for entry in future.producers.entries] == [7]


def test_records_appended_meanwhile_are_copied_too(directories: LogDirectories) -> None:
    append(directories.online["/a"].logs[P], *[b"%d" % n for n in range(20)])
    move = begin(directories)
    for n in range(20, 30):
        move.append(move.read(150), now_ms=NOW_MS)
        assert move.lag_bytes > 0
        append(move.current, b"%d" % n)
    copy(move)
    assert move.lag_bytes == 0
    assert values(finish(move)) == [b"%d" % n for n in range(30)]


def test_what_the_current_log_has_been_cut_of_goes_from_the_future_one(
    directories: LogDirectories,
) -> None:
    source = directories.online["/a"]
    append(source.logs[P], *[b"%d" % n for n in range(10)], epoch=1)
    append(source.logs[P], *[b"%d" % n for n in range(10, 20)], epoch=3)
    move = begin(directories)
    copy(move)
    source.truncate_to(P, 6)
    append(source.logs[P], b"new", b"newer", *[b"%d" % n for n in range(30)], epoch=4)
    assert not move.has_caught_up
    copy(move, 100)
    assert values(move.future) == values(move.current)
    source.truncate_to(P, 7)
    copy(move)
    assert values(finish(move)) == [b"0", b"1", b"2", b"3", b"4", b"5", b"new"]


def test_a_current_log_that_begins_later_means_beginning_anew(directories: LogDirectories) -> None:
    source = directories.online["/a"]
    append(source.logs[P], *[b"%d" % n for n in range(10)])
    move = begin(directories)
    source.truncate_fully(P, 100)
    assert move.must_begin_anew
    assert not move.has_caught_up


def test_a_log_whose_last_records_are_compacted_away(disk: SimulatedDisk) -> None:
    directories = opened(disk)
    source = directories.create(P, TOPIC_ID, CONFIG, "/a", now_ms=NOW_MS)
    append(source, b"0", b"1")
    source.skip_to(9, now_ms=NOW_MS)
    move = begin(directories)
    copy(move)
    moved = finish(move)
    append(moved, b"9")
    assert moved.log_end_offset == 10
    assert values(moved) == [b"0", b"1", b"9"]


def test_gaps_of_compaction_survive_a_crash(disk: SimulatedDisk) -> None:
    """Whatever the policy is by now: a copy of a log with gaps has them too."""
    directories = opened(disk)
    directories.create(P, TOPIC_ID, CONFIG, "/a", now_ms=NOW_MS)
    source = directories.online["/a"]
    append(source.logs[P], *[b"%d" % n for n in range(30)])
    source.was_compacted(P, 17)
    move = begin(directories)
    copy(move)
    finish(move)
    assert source.cleaned_offsets == {}
    disk.crash()
    assert opened(disk).online["/b"].cleaned_offsets == {P: 17}


@dataclass
class Scenario:
    """A partition that is written to while it moves; what has to survive is noted on the way."""

    disk: SimulatedDisk
    rng: random.Random
    appended: list[bytes] = field(default_factory=list)
    durable: int = 0  # of what was appended, that a power loss may not take
    expected: str = "/a"  # where the controller has been told that the partition is

    def run(self) -> None:
        """Stops with PowerCut wherever the disk says so."""
        directories = opened(self.disk)
        log = directories.create(P, TOPIC_ID, CONFIG, "/a", now_ms=NOW_MS)
        self.write(log)
        move = begin(directories)
        while not move.has_caught_up:
            move.append(move.read(self.rng.choice([100, 400])), now_ms=NOW_MS)
            if self.rng.random() < 0.3:
                self.write(log, count=1)
        if self.rng.random() < 0.5:
            move.future.flush()
        self.expected = "/b"  # from here on the controller says so
        self.write(log, count=2)
        copy(move)
        replaced = move.swap()
        log = directories.online["/b"].logs[P]
        unflushed = log.begin_flush()
        self.write(log, count=2)
        if unflushed is not None:
            unflushed.sync(self.disk)
            log.end_flush(unflushed)
        move.finish(replaced, now_ms=NOW_MS)
        self.write(log)
        directories.checkpoint()
        for each in directories:
            each.sweep(0, now_ms=NOW_MS)

    def write(self, log: Log, count: int = 8) -> None:
        for _ in range(count):
            value = b"%d" % len(self.appended)
            log.append_as_leader(batch_of(value), leader_epoch=0, now_ms=NOW_MS)
            log.write_staged()
            self.appended.append(value)
            if self.rng.random() < 0.3:
                unflushed = log.begin_flush_of_records()
                if unflushed is not None:
                    unflushed.sync(self.disk)
                    log.end_flush(unflushed)
                self.durable = len(self.appended)
        log.update_high_watermark(log.log_end_offset)

    def check(self, *, kept: int) -> None:
        """After a crash: at least `kept` records are there, and the move can be brought to an end.

        What was being appended as the power went may be there as well.
        """
        directories = opened(self.disk)
        settle(directories, self.expected)
        if directories.find(P) is None:
            assert not kept
            return
        log = directories.find_log(P)
        assert log is not None
        found = values(log)
        assert len(found) >= kept
        assert found == [b"%d" % n for n in range(len(found))]
        if (move := directories.find_move(P)) is not None:
            copy(move)
            assert values(finish(move)) == found
        for each in directories:
            each.sweep(0, now_ms=NOW_MS)
        left = [name for path in IDS for name in names(self.disk, path)]
        assert sorted(name[-6:] for name in left if not name.endswith("-stray")) == ["t-0"]


def scenarios(seed: int) -> Iterator[tuple[SimulatedDisk, Scenario]]:
    """The same run, broken off after each of its steps."""
    whole = Scenario(SimulatedDisk(random.Random(seed)), random.Random(seed))
    whole.run()
    assert whole.expected == "/b"
    for steps in range(whole.disk.steps):
        disk = SimulatedDisk(random.Random(seed + steps))
        disk.steps_left = steps
        scenario = Scenario(disk, random.Random(seed))
        with pytest.raises(PowerCut):
            scenario.run()
        yield disk, scenario


@pytest.mark.parametrize("seed", range(6, 12))
def test_no_durable_record_is_lost_to_a_power_loss_at_any_step(seed: int) -> None:
    # pitfall 47
    for disk, scenario in scenarios(seed):
        disk.crash()
        scenario.check(kept=scenario.durable)


@pytest.mark.parametrize("seed", range(3))
def test_no_record_is_lost_to_a_kill_at_any_step(seed: int) -> None:
    # pitfall 47
    for disk, scenario in scenarios(seed):
        disk.steps_left = None
        scenario.check(kept=len(scenario.appended))


def test_a_swap_whose_name_was_lost_is_made_again(disk: SimulatedDisk) -> None:
    directories = opened(disk)
    append(directories.create(P, TOPIC_ID, CONFIG, "/a", now_ms=NOW_MS), b"0", b"1")
    directories.online["/a"].logs[P].flush()
    move = begin(directories)
    copy(move)
    move.future.flush()
    append(move.future, b"2")  # as after a swap whose rename did not reach the disk
    move.future.flush()
    again = opened(disk)
    assert settle(again, "/b") == [Fate.DELETE, Fate.PROMOTE]
    assert values(again.online["/b"].logs[P]) == [b"0", b"1", b"2"]


def test_a_future_log_of_a_topic_that_is_gone(disk: SimulatedDisk) -> None:
    directories = opened(disk)
    append(directories.create(P, TOPIC_ID, CONFIG, "/a", now_ms=NOW_MS), b"0")
    begin(directories)
    again = opened(disk, replace(CONFIG))
    again.settle({}, now_ms=NOW_MS)
    assert names(disk, "/a")[0].endswith("-stray")
    assert names(disk, "/b")[0].endswith("-delete")
