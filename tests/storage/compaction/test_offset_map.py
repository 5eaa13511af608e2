import random

import pytest

from snakka.protocol.records.column_buffers import KeySpan
from snakka.storage.compaction.offset_map import NO_OFFSET, SLOT_BYTES, OffsetMap


def span(offset: int, key: bytes | None) -> KeySpan:
    return KeySpan(offset, 0, key, False, 0, 0)


def test_it_agrees_with_a_dict_until_it_is_full() -> None:
    rng = random.Random(0)
    offset_map, expected = OffsetMap(1024 * SLOT_BYTES, 0.9), dict[bytes, int]()
    for offset in range(20_000):
        key = b"%d" % rng.randrange(921)
        assert offset_map.put_all([span(offset, key)], 0)
        expected[key] = offset
    assert offset_map.size == len(expected) == 921
    assert offset_map.put_all([span(20_000, b"0")], 0), "a known key needs no room"
    assert not offset_map.put_all([span(20_001, b"new")], 0)
    expected[b"0"] = 20_000
    assert {key: offset_map.find(key) for key in expected} == expected
    assert {offset_map.find(b"absent-%d" % n) for n in range(1000)} == {NO_OFFSET}


def test_records_without_key_or_before_the_start_are_passed_over() -> None:
    offset_map = OffsetMap(64 * SLOT_BYTES, 0.9)
    assert offset_map.put_all([span(0, None), span(4, b"a"), span(5, b""), span(6, b"b")], 5)
    assert [offset_map.find(key) for key in (b"a", b"", b"b")] == [NO_OFFSET, 5, 6]


def test_offset_zero_is_an_offset() -> None:
    offset_map = OffsetMap(2 * SLOT_BYTES, 1.0)
    assert offset_map.put_all([span(0, b"a")], 0)
    assert offset_map.find(b"a") == 0
    assert offset_map.find(b"b") == NO_OFFSET, "one slot is always free, or a search has no end"


def test_a_budget_without_room() -> None:
    with pytest.raises(ValueError, match="hold no keys"):
        OffsetMap(SLOT_BYTES, 0.9)
