import random
from dataclasses import replace

from snakka.storage.checkpoints import read_offsets
from snakka.storage.compaction.cleanable import Cleanable
from snakka.storage.config import LogConfig
from snakka.storage.errors import UncleanableError
from snakka.storage.log_directory import LogDirectory
from snakka.storage.names import CLEANER_OFFSET_CHECKPOINT, TopicPartition
from snakka.storage.open_files import OpenFiles
from snakka.storage.opening import Checkpointed
from snakka.storage.retention import enforce_retention
from snakka.storage.upkeep import (
    Chore,
    FlushFacts,
    Upkeep,
    UpkeepConfig,
    find_due_for_compaction,
    find_due_for_flush,
    find_due_for_retention,
    in_order_of_dirt,
    needs_flush,
)
from tests.simulation.disk import SimulatedDisk
from tests.storage.making import NOW_MS, TOPIC_ID, Harness, batch_of, keyed

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
COMPACTED = LogConfig(segment_bytes=1000, index_interval_bytes=100, is_compacted=True)


def test_chores_come_around() -> None:
    upkeep = Upkeep(UpkeepConfig(log_flush_scheduler_interval_ms=900), now_ms=1000)
    assert upkeep.take_due(1899) == []
    assert upkeep.next_deadline_ms() == 1900
    assert upkeep.take_due(5500) == [Chore.FLUSH]
    assert upkeep.next_deadline_ms() == 6000
    assert upkeep.take_due(6500) == [Chore.FLUSH, Chore.CHECKPOINT]
    assert set(upkeep.take_due(1 << 40)) == set(Chore)


def test_another_interval_counts_from_when_the_chore_was_done_last() -> None:
    upkeep = Upkeep(UpkeepConfig(log_cleaner_backoff_ms=10_000), now_ms=0)
    upkeep.take_due(6_000)
    upkeep.reconfigure(UpkeepConfig(log_cleaner_backoff_ms=7_000), now_ms=6_000)
    assert Chore.COMPACTION not in upkeep.take_due(6_999)
    assert Chore.COMPACTION in upkeep.take_due(7_000)
    upkeep.reconfigure(UpkeepConfig(log_cleaner_backoff_ms=20_000), now_ms=8_000)
    assert Chore.COMPACTION not in upkeep.take_due(26_999)
    assert Chore.COMPACTION in upkeep.take_due(27_000)


def test_what_is_sealed_does_not_wait_for_a_setting() -> None:
    assert Upkeep(UpkeepConfig(), now_ms=0).take_due(1000) == [Chore.FLUSH]


def test_flush_by_count_by_time_and_of_what_is_sealed() -> None:
    config = LogConfig(flush_messages=10, flush_ms=500)
    facts = FlushFacts(109, 100, 100, 50, flushed_at_ms=1000)
    assert not needs_flush(facts, config, 1499)
    assert needs_flush(facts, config, 1500)
    assert needs_flush(facts._replace(log_end_offset=110), config, 1000)
    assert not needs_flush(facts._replace(log_end_offset=100), config, 9999)
    assert not needs_flush(facts, LogConfig(), 1 << 60), "Kafka leaves it to the page cache"
    assert needs_flush(facts._replace(active_base_offset=101), LogConfig(), 1000)


def test_a_rolled_log_is_due_until_it_is_flushed(disk: SimulatedDisk) -> None:
    harness = Harness(disk)
    logs = {T0: harness.log}
    harness.append(batch_of(b"a"))
    assert find_due_for_flush(logs, {}, now_ms=NOW_MS) == []
    harness.log.roll(now_ms=NOW_MS)
    assert find_due_for_flush(logs, {}, now_ms=NOW_MS) == [T0]
    harness.log.flush()
    assert find_due_for_flush(logs, {}, now_ms=NOW_MS) == []


def test_the_filthiest_log_comes_first() -> None:
    clean = Cleanable(0, 10, 900, 100, False)
    dirty = Cleanable(0, 10, 100, 900, False)
    filthy = Cleanable(0, 10, 0, 900, False)
    late = clean._replace(is_overdue=True)
    partitions = [TopicPartition("t", n) for n in range(4)]
    candidates = zip(partitions, [COMPACTED] * 4, [clean, dirty, filthy, late], strict=True)
    assert [p.partition for p, _ in in_order_of_dirt(candidates)] == [2, 1, 3]


def test_everything_that_is_due_gets_done(disk: SimulatedDisk) -> None:
    """As a node does it, with `compact,delete`."""
    # pitfall 18
    config = replace(COMPACTED, retention_ms=5000)
    disk.now_ms = NOW_MS
    directory = LogDirectory(OpenFiles(disk), "/logs", random.Random(0))
    harness = Harness(disk, config)
    directory.logs[T0] = harness.log
    for n in range(60):
        harness.append(keyed((b"%d" % (n % 20), b"value-%d" % n)))
    harness.log.update_high_watermark(60)
    ((partition, cleanable),) = find_due_for_compaction(
        directory.logs, directory.cleaned_offsets, directory.uncleanable, now_ms=NOW_MS
    )
    assert (partition, cleanable.first_dirty_offset) == (T0, 0)
    directory.was_compacted(T0, harness.compact(0).end_offset)
    assert (
        find_due_for_compaction(
            directory.logs, directory.cleaned_offsets, directory.uncleanable, now_ms=NOW_MS
        )
        == []
    )
    assert find_due_for_retention(directory.logs, now_ms=NOW_MS + 5000) == []
    later_ms = NOW_MS + 5001
    assert find_due_for_retention(directory.logs, now_ms=later_ms) == [T0]
    assert enforce_retention(harness.log, now_ms=later_ms)
    assert find_due_for_retention(directory.logs, now_ms=later_ms) == []
    assert harness.content() == {}


def test_an_uncleanable_log_waits_for_an_operator(disk: SimulatedDisk) -> None:
    harness = Harness(disk, COMPACTED)
    for _ in range(30):
        harness.append(keyed((b"a", b"x" * 50)))
    harness.log.update_high_watermark(30)
    assert find_due_for_compaction({T0: harness.log}, {}, (), now_ms=NOW_MS)
    uncleanable = {T0: UncleanableError("path", 0, "reason")}
    assert find_due_for_compaction({T0: harness.log}, {}, uncleanable, now_ms=NOW_MS) == []


def test_where_compaction_goes_on_is_remembered_and_cut_with_the_log(disk: SimulatedDisk) -> None:
    directory = LogDirectory(OpenFiles(disk), "/logs", random.Random(0))
    log = directory.create(T1, TOPIC_ID, COMPACTED, now_ms=NOW_MS)
    for n in range(10):
        log.append_as_leader(keyed((b"%d" % n, b"x")), leader_epoch=0, now_ms=NOW_MS)
    log.write_staged()
    directory.was_compacted(T1, 8)
    directory.shut_down(1)

    def reopened() -> LogDirectory:
        return LogDirectory.open(
            OpenFiles(disk), "/logs", random.Random(0), lambda _: COMPACTED, now_ms=NOW_MS
        ).directory

    again = reopened()
    assert again.cleaned_offsets == {T1: 8}
    again.truncate_to(T1, 5)
    assert read_offsets(disk, f"/logs/{CLEANER_OFFSET_CHECKPOINT}") == {T1: 5}
    again.truncate_fully(T1, 100)
    assert reopened().cleaned_offsets == {T1: 0}


def test_gaps_are_no_damage_once_compaction_has_been_there(disk: SimulatedDisk) -> None:
    """Whatever the policy says now."""
    config = replace(COMPACTED, is_deleted=False)
    directory = LogDirectory(OpenFiles(disk), "/logs", random.Random(0))
    harness = Harness(disk, config)
    directory.logs[T0] = harness.log
    for n in range(60):
        harness.append(keyed((b"%d" % (n % 20), b"value-%d" % n)))
    directory.was_compacted(T0, harness.compact(0).end_offset)
    expected = harness.values()
    plain = replace(config, is_compacted=False)
    opened = LogDirectory.open(
        OpenFiles(disk), "/logs", random.Random(0), lambda _: plain, now_ms=NOW_MS
    )
    assert opened.opened[0].damages == ()
    harness.opened = opened.opened[0]
    assert harness.values() == expected
    assert harness.open(Checkpointed(0, 0, has_gaps=True)).damages == ()
