"""Which files a compaction puts together."""

from snakka.pipeline.tables.packing import Sized, pack


def files(*sizes: int, partition: str = "") -> list[Sized]:
    return [Sized(f"{partition}{at}", partition, size, 1) for at, size in enumerate(sizes)]


def packed(found: list[list[Sized]]) -> list[list[int]]:
    return sorted([each.size_bytes for each in one] for one in found)


def test_bins_are_not_larger_than_wanted() -> None:
    assert packed(pack(files(10, 50, 40, 30, 60, 10), 100)) == [[50, 30, 10, 10], [60, 40]]


def test_what_is_large_enough_or_alone_stays() -> None:
    assert pack(files(75, 100, 300), 100) == []
    assert pack(files(10), 100) == []
    assert packed(pack(files(74, 70, 20), 100)) == [[74, 20]]


def test_partitions_are_kept_apart() -> None:
    found = pack([*files(1, 2, partition="a"), *files(3, 4, partition="b")], 100)
    assert packed(found) == [[2, 1], [4, 3]]


def test_a_file_whose_rows_cannot_be_counted_is_left_alone() -> None:
    assert pack([*files(1), Sized("x", "", 1, None)], 100) == []
