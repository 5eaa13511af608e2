"""Ranges to slices, and how far a micro-batch goes."""

from hypothesis import given
from hypothesis import strategies as st

from snakka.client.records import TopicPartition
from snakka.pipeline.admission import Limits, Walk, share_out
from snakka.pipeline.offsets import OffsetRange, from_json, read_numbers, to_json
from snakka.pipeline.planning import (
    SHARED_BYTES_MAX,
    SHARED_SLICES_MAX,
    Slice,
    Splitting,
    pack,
    split,
)
from snakka.protocol.records.batch import BatchHeader
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record

A, B = TopicPartition("a", 0), TopicPartition("a", 1)


def header(base_offset: int, *deltas: int) -> BatchHeader:
    records = [Record(base_offset + delta, 0, b"", b"x" * 90) for delta in deltas]
    return BatchHeader.read(build_batch(records))


def test_a_large_partition_feeds_many_tasks_and_a_small_one_feeds_one() -> None:
    slices = split(
        [OffsetRange(A, 0, 1000), OffsetRange(B, 5, 15)], {A: 100.0, B: 100.0}, Splitting(25_000)
    )
    assert [each.range for each in slices] == [
        *(OffsetRange(A, start, start + 250) for start in (0, 250, 500, 750)),
        OffsetRange(B, 5, 15),
    ]
    assert slices[0].size_bytes == 25_000


def test_an_empty_range_makes_no_task() -> None:
    assert split([OffsetRange(A, 7, 7)], {A: 1.0}, Splitting(1)) == []


def test_rows_and_a_least_number_of_slices_cut_as_well() -> None:
    whole = [OffsetRange(A, 0, 100)]
    assert len(split(whole, {}, Splitting(1 << 30, rows_max=30))) == 4
    assert len(split(whole, {}, Splitting(1 << 30, slices_min=7))) == 7
    assert len(split([OffsetRange(A, 0, 3)], {}, Splitting(1 << 30, slices_min=7))) == 3


def slices_of(*sizes: int) -> list[Slice]:
    return [
        Slice(OffsetRange(TopicPartition("t", index), 0, 10), size)
        for index, size in enumerate(sizes)
    ]


def sizes_of(tasks: list[tuple[Slice, ...]]) -> list[list[int]]:
    return [[each.size_bytes for each in task] for task in tasks]


def test_partitions_with_little_to_read_share_a_task() -> None:
    half = SHARED_BYTES_MAX // 2
    tasks = pack(slices_of(1, half, half - 1, half, 2 * half, 1), Splitting(1 << 30))
    assert sizes_of(tasks) == [[1, half, half - 1], [half], [2 * half], [1]]


def test_partitions_whose_size_is_not_known_share_none() -> None:
    assert sizes_of(pack(slices_of(0, 0, 1, 1, 0), Splitting(1 << 30))) == [[0], [0], [1, 1], [0]]


def test_a_task_is_not_shared_beyond_what_was_asked_for() -> None:
    small = slices_of(*[1] * 300)
    assert len(pack(small, Splitting(1 << 30, slices_min=299))) == 299
    assert len(pack(small, Splitting(1 << 30, slices_min=1000))) == 300
    assert {len(each) for each in pack(small, Splitting(1 << 30, rows_max=30))} == {3}
    assert max(len(each) for each in pack(small, Splitting(1 << 30))) == SHARED_SLICES_MAX


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), max_size=5),
    st.integers(1, 5000),
    st.one_of(st.none(), st.integers(1, 100)),
    st.one_of(st.none(), st.integers(1, 40)),
)
def test_slices_cover_each_offset_once_and_in_order(
    spans: list[tuple[int, int]], bytes_max: int, rows_max: int | None, slices_min: int | None
) -> None:
    ranges = [
        OffsetRange(TopicPartition("t", index), start, start + length)
        for index, (start, length) in enumerate(spans)
    ]
    splitting = Splitting(bytes_max, rows_max, slices_min)
    cut = split(ranges, {each.where: 10.0 for each in ranges}, splitting)
    slices = [each for task in pack(cut, splitting) for each in task]
    covered = [
        (each.range.where, at) for each in slices for at in range(each.range.start, each.range.end)
    ]
    assert covered == [(each.where, at) for each in ranges for at in range(each.start, each.end)]
    if rows_max is not None:
        assert all(each.range.end - each.range.start <= rows_max for each in slices)


@given(st.integers(0, 10_000), st.dictionaries(st.text(max_size=3), st.integers(0, 1 << 40)))
def test_a_limit_is_shared_out_whole_and_never_beyond_what_is_wanted(
    limit: int, wanted: dict[str, int]
) -> None:
    shares = share_out(limit, wanted)
    assert sum(shares.values()) == min(limit, sum(wanted.values()))
    assert all(shares[key] <= wanted[key] for key in wanted)


def test_rows_are_counted_not_offsets() -> None:
    walk = Walk(0, Limits(rows_max=4))
    assert walk.take(header(0, 0, 9))  # what compaction left: two rows in ten offsets
    walk.pass_over(header(10, 0))  # a marker, say
    assert walk.position == 11
    assert not walk.take(header(11, 0, 1, 2))
    assert walk.position == 13  # within a batch, after the fourth row


def test_a_walk_that_starts_within_a_batch_counts_the_rest_of_it() -> None:
    walk = Walk(3, Limits(rows_max=10))
    assert walk.take(header(0, 0, 1, 2, 3, 4))
    assert walk.take(header(5, *range(8)))
    assert not walk.take(header(13, 0))
    assert walk.position == 13


def test_bytes_admit_whole_batches_and_at_least_one() -> None:
    size = header(0, 0).size_bytes
    walk = Walk(0, Limits(bytes_max=2 * size))
    assert walk.take(header(0, 0))
    assert walk.take(header(1, 0))
    assert not walk.take(header(2, 0))
    assert walk.position == 2

    small = Walk(0, Limits(bytes_max=1))
    assert small.take(header(0, 0))
    assert not small.take(header(1, 0))
    assert small.position == 1


def test_beyond_what_was_walked_offsets_count_as_rows_and_bytes_as_seen() -> None:
    rows = Walk(0, Limits(rows_max=100))
    rows.take(header(0, *range(10)))
    assert rows.guess_rest(end=1000) == 100
    assert rows.guess_rest(end=50) == 50

    sized = Walk(0, Limits(bytes_max=10 * header(0, *range(10)).size_bytes))
    sized.take(header(0, *range(10)))
    assert sized.guess_rest(end=1000) == 100


def test_offsets_go_into_a_checkpoint_and_come_back() -> None:
    offsets = {B: 2, A: 1, TopicPartition("b", 10): 3}
    assert to_json(offsets) == {"a": {"0": 1, "1": 2}, "b": {"10": 3}}
    assert from_json(to_json(offsets)) == offsets
    assert list(to_json(offsets)) == ["a", "b"]  # Spark compares the text
    assert read_numbers('{"a": {"0": 1, "1": "2"}, "b": {"10": 3}}') == offsets
