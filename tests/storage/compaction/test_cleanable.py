from dataclasses import replace

from snakka.storage.compaction.cleanable import (
    Cleanable,
    GroupFacts,
    LogFacts,
    SegmentFacts,
    find_cleanable,
    find_first_dirty_offset,
    group_sizes,
)
from snakka.storage.config import LogConfig

CONFIG = LogConfig(is_compacted=True, segment_bytes=300, segment_index_bytes=64)
# Four sealed segments of ten records each, and the active one.
SEGMENTS = [SegmentFacts(base, 100, 1000 + base, 1009 + base) for base in (0, 10, 20, 30, 40)]


def facts(stable: int = 50, cleaned: int | None = None, start: int = 0) -> LogFacts:
    return LogFacts(start, 50, stable, cleaned)


def find(facts: LogFacts, config: LogConfig = CONFIG, now_ms: int = 2000) -> Cleanable:
    return find_cleanable(SEGMENTS, facts, config, now_ms)


def test_the_active_segment_is_left_alone() -> None:
    assert find(facts()) == Cleanable(0, 40, 0, 400, False)


def test_what_is_undecided_is_left_alone_with_its_segment() -> None:
    assert find(facts(stable=29)).end_offset == 20
    assert find(facts(stable=30)).end_offset == 30


def test_the_clean_part_counts_against_the_dirty_one() -> None:
    cleanable = find(facts(cleaned=30))
    assert cleanable == Cleanable(30, 40, 300, 100, False)
    assert cleanable.dirty_ratio == 0.25
    assert not cleanable.is_due(CONFIG)
    assert cleanable.is_due(replace(CONFIG, min_cleanable_dirty_ratio=0.2))
    assert not cleanable.is_due(replace(CONFIG, min_cleanable_dirty_ratio=0.2, is_compacted=False))


def test_a_ratio_of_zero_does_not_clean_for_nothing() -> None:
    always = replace(CONFIG, min_cleanable_dirty_ratio=0.0)
    assert find(facts(cleaned=39)).is_due(always)
    assert not find(facts(cleaned=40)).is_due(always)
    assert not find(facts(stable=5)).is_due(always)


def test_young_records_wait() -> None:
    config = replace(CONFIG, min_compaction_lag_ms=500)
    assert [find(facts(), config, now).end_offset for now in (1508, 1509, 1519, 9999)] == [
        0,
        10,
        20,
        40,
    ]
    assert find(facts(cleaned=20), config, 1500).end_offset == 20


def test_old_records_do_not_wait_for_the_ratio() -> None:
    config = replace(CONFIG, max_compaction_lag_ms=500)
    assert not find(facts(cleaned=30), config, 1530).is_due(config)
    assert find(facts(cleaned=30), config, 1531).is_due(config)
    assert config.max_segment_ms == 500, "only what is sealed can be cleaned in time"
    assert replace(config, is_compacted=False).max_segment_ms == config.segment_ms


def test_a_first_dirty_offset_outside_of_the_log_starts_anew() -> None:
    starts = [find_first_dirty_offset(facts(cleaned=n, start=7)) for n in (6, 7, 50, 51)]
    assert starts == [7, 7, 50, 7]
    assert find_first_dirty_offset(facts(start=7)) == 7


def test_segments_are_grouped_to_whole_ones() -> None:
    assert group_sizes([GroupFacts(n, n + 1, 100, 8) for n in range(7)], CONFIG) == [3, 3, 1]
    assert group_sizes([GroupFacts(n, n + 1, 400, 8) for n in range(2)], CONFIG) == [1, 1]
    assert group_sizes([GroupFacts(n, n + 1, 1, 40) for n in range(2)], CONFIG) == [1, 1]
    assert group_sizes([], CONFIG) == []


def test_relative_offsets_stay_within_31_bits() -> None:
    far = [
        GroupFacts(0, 10, 1, 8),
        GroupFacts(10, 1 << 31, 1, 8),
        GroupFacts(1 << 31, 1 << 32, 1, 8),
    ]
    assert group_sizes(far, CONFIG) == [2, 1]
    empty = [GroupFacts(0, 10, 1, 8), GroupFacts(10, 1 << 32, 0, 0)]
    assert group_sizes(empty, CONFIG) == [2]
