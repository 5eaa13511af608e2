import pytest

from snakka.storage.epochs import EpochEndOffset, EpochEntry, LeaderEpochs


def epochs(*entries: tuple[int, int]) -> LeaderEpochs:
    return LeaderEpochs(EpochEntry(*entry) for entry in entries)


def entries(cache: LeaderEpochs) -> list[tuple[int, int]]:
    return [(entry.epoch, entry.start_offset) for entry in cache.entries]


def test_an_epoch_begins_once() -> None:
    cache = epochs((1, 0))
    cache.assign(1, 5)
    assert cache.is_dirty is False
    cache.assign(3, 10)
    assert entries(cache) == [(1, 0), (3, 10)]
    assert cache.latest_epoch == 3


def test_a_new_entry_replaces_what_it_contradicts() -> None:
    cache = epochs((1, 0), (2, 10), (4, 20))
    cache.assign(3, 15)
    assert entries(cache) == [(1, 0), (2, 10), (3, 15)]
    cache.assign(5, 10)
    assert entries(cache) == [(1, 0), (5, 10)]
    cache.assign(5, 8)
    assert entries(cache) == [(1, 0), (5, 8)]
    with pytest.raises(ValueError, match="epoch -1"):
        cache.assign(-1, 0)


def test_truncation() -> None:
    cache = epochs((1, 0), (2, 10), (4, 20))
    cache.truncate_from_end(21)
    assert not cache.is_dirty
    cache.truncate_from_end(20)
    assert entries(cache) == [(1, 0), (2, 10)]
    cache.truncate_from_start(12)
    assert entries(cache) == [(2, 12)]
    cache.truncate_from_start(5)
    assert entries(cache) == [(2, 12)]
    cache.clear()
    assert entries(cache) == []
    assert cache.latest_epoch is None


def test_truncation_from_the_start_of_the_first_epoch_changes_nothing() -> None:
    cache = epochs((1, 0), (2, 10))
    cache.truncate_from_start(0)
    assert not cache.is_dirty
    cache.truncate_from_start(10)
    assert entries(cache) == [(2, 10)]


def test_end_offset_of_an_epoch() -> None:
    cache = epochs((2, 10), (4, 20))
    assert cache.find_end_offset(4, 33) == EpochEndOffset(4, 33)
    assert cache.find_end_offset(2, 33) == EpochEndOffset(2, 20)
    assert cache.find_end_offset(3, 33) == EpochEndOffset(2, 20)
    assert cache.find_end_offset(1, 33) == EpochEndOffset(1, 10)
    assert cache.find_end_offset(5, 33) is None
    assert cache.find_end_offset(-1, 33) is None
    assert epochs().find_end_offset(0, 0) is None


def test_epoch_of_an_offset() -> None:
    cache = epochs((2, 10), (4, 20))
    found = [cache.find_epoch(offset) for offset in (9, 10, 19, 20, 99)]
    assert found == [None, 2, 2, 4, 4]
