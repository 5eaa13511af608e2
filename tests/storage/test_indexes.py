"""Offset, time and transaction indexes, in memory and on disk alike."""

from bisect import bisect_right

import pytest

from snakka.storage.disk import read_whole
from snakka.storage.errors import CorruptFileError
from snakka.storage.indexes import OffsetIndex, OffsetPosition, TimeIndex, TimestampOffset
from snakka.storage.open_files import OpenFiles
from snakka.storage.transaction_index import AbortedTransaction, TransactionIndex

PATH = "/logs/t-0/00000000000000001000.index"


def offset_index(files: OpenFiles) -> OffsetIndex:
    files.get(PATH, create=True)
    return OffsetIndex(files, PATH, 1000)


def time_index(files: OpenFiles) -> TimeIndex:
    files.get(PATH, create=True)
    return TimeIndex(files, PATH, 1000)


def test_the_bytes_of_an_offset_index(files: OpenFiles) -> None:
    index = offset_index(files)
    index.append(1002, 4097)
    index.append(1003, 8200)
    index.entries.write()
    assert read_whole(files.disk, PATH).hex() == "00000002 00001001 00000003 00002008".replace(
        " ", ""
    )


def test_an_empty_index_says_the_start_of_the_segment(files: OpenFiles) -> None:
    index = offset_index(files)
    assert index.lookup(5000) == OffsetPosition(1000, 0)
    assert index.last_entry == OffsetPosition(1000, 0)
    assert index.find_upper_bound(0) is None
    assert time_index(files).lookup(5) == TimestampOffset(-1, 1000)


@pytest.mark.parametrize("written", [0, 1, 511, 512, 700, 1999, 2000])
def test_lookups_do_not_care_what_is_in_memory(files: OpenFiles, written: int) -> None:
    index = offset_index(files)
    for n in range(2000):
        if n == written:
            index.entries.write()
        index.append(1000 + 10 * n + 9, 4096 * (n + 1))
    if written == 2000:
        index.entries.write()
    for n in (0, 1, 510, 511, 512, 513, 699, 700, 1500, 1998, 1999):
        exact = OffsetPosition(1009 + 10 * n, 4096 * (n + 1))
        assert index.lookup(exact.offset) == exact
        assert index.lookup(exact.offset + 9) == exact
        assert index.find_upper_bound(exact.position) == exact.offset
        assert index.find_upper_bound(exact.position - 1) == exact.offset
    assert index.lookup(1008) == OffsetPosition(1000, 0)
    assert index.last_entry == OffsetPosition(20999, 4096 * 2000)
    assert index.room(16000) == 0
    assert index.room(16008) == 1


def test_full_pages_leave_memory(files: OpenFiles) -> None:
    index = offset_index(files)
    for n in range(600):
        index.append(1001 + n, 4097 * (n + 1))
        if index.entries.has_full_page:
            index.entries.write()
    assert files.get(PATH).size() == 8 * 512
    assert len(index.entries) == 600


@pytest.mark.parametrize("written", [False, True])
def test_truncating_an_offset_index(files: OpenFiles, written: bool) -> None:
    index = offset_index(files)
    for n in range(10):
        index.append(1009 + 10 * n, 4097 * (n + 1))
        if written and n == 5:
            index.entries.write()
    index.truncate_to(1049)
    assert index.last_entry.offset == 1039
    index.append(1045, 99999)
    assert index.last_entry == OffsetPosition(1045, 99999)
    index.truncate_to(1000)
    assert len(index.entries) == 0


def test_a_time_index_rises(files: OpenFiles) -> None:
    index = time_index(files)
    index.maybe_append(100, 1001)
    index.maybe_append(100, 1005)
    index.maybe_append(90, 1006)
    index.maybe_append(200, 1010)
    index.entries.write()
    expected = "0000000000000064 00000001 00000000000000c8 0000000a".replace(" ", "")
    assert read_whole(files.disk, PATH).hex() == expected
    assert index.lookup(99) == TimestampOffset(-1, 1000)
    assert index.lookup(199) == TimestampOffset(100, 1001)
    assert index.last_entry == TimestampOffset(200, 1010)
    index.truncate_to(1010)
    index.maybe_append(150, 1011)
    assert index.last_entry == TimestampOffset(150, 1011)
    assert index.room(36) == 0
    assert index.room(48) == 1


def test_damage(files: OpenFiles) -> None:
    index = offset_index(files)
    assert index.entries.find_damage() is None
    index.append(1001, 4097)
    index.append(1002, 8200)
    index.entries.write()
    assert index.entries.find_damage() is None
    files.get(PATH).write([bytes(3)], 16)
    assert "multiple of 8" in str(index.entries.find_damage())
    files.get(PATH).write([bytes(1024)], 16)
    assert "not above its first" in str(offset_index(files).entries.find_damage())


def test_the_transaction_index(files: OpenFiles) -> None:
    index = TransactionIndex(files, PATH)
    assert list(index.entries()) == []
    index.truncate_to(0)
    entries = [AbortedTransaction(7, 10 * n, 10 * n + 5, 10 * n + 6) for n in range(3)]
    for entry in entries:
        index.append(entry)
    assert read_whole(files.disk, PATH)[34:68].hex() == (
        "00000000000000000007000000000000000a000000000000000f0000000000000010"
    )
    assert list(index.entries()) == entries
    index.truncate_to(26)
    assert list(index.entries()) == entries
    index.truncate_to(25)
    assert list(index.entries()) == entries[:2]


def test_damage_of_the_transaction_index(files: OpenFiles) -> None:
    index = TransactionIndex(files, PATH)
    index.append(AbortedTransaction(7, 10, 15, 16))
    files.get(PATH).write([b"\x00\x01"], 0)
    with pytest.raises(CorruptFileError, match="version 1"):
        list(index.entries())
    files.get(PATH).truncate(33)
    with pytest.raises(CorruptFileError, match="torn"):
        list(index.entries())


@pytest.mark.parametrize("field", [0, 1])
@pytest.mark.parametrize("bend", [1, 100, 2000, 2400])
def test_lookups_do_not_care_how_evenly_entries_rise(
    files: OpenFiles, field: int, bend: int
) -> None:
    index = offset_index(files)
    values = [n if n < bend else 100_000 * n for n in range(2500)]
    for n, value in enumerate(values):
        index.append(1000 + value, value)
        if n == 2300:
            index.entries.write()
    for n in (*range(0, 2500, 7), 2299, 2300, 2301, 2499):
        for target in (values[n] - 1, values[n], values[n] + 1):
            slot = bisect_right(values, target) - 1
            entry = (values[slot], values[slot]) if slot >= 0 else None
            assert index.entries.find(target, field) == (slot, entry)
