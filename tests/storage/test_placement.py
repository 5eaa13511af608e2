from snakka.storage.placement import rank_directories


def test_the_fewest_partitions_and_the_earlier_of_equals() -> None:
    assert rank_directories({"/a": 3, "/b": 1, "/c": 1}) == ["/b", "/c", "/a"]


def test_cordoned_directories_get_none_unless_all_are() -> None:
    assert rank_directories({"/a": 0, "/b": 5}, {"/a"}) == ["/b"]
    assert rank_directories({"/a": 7, "/b": 5}, {"/a", "/b"}) == ["/b", "/a"]


def test_partitions_spread_evenly() -> None:
    counts = dict.fromkeys(["/a", "/b", "/c"], 0)
    for _ in range(99):
        counts[rank_directories(counts)[0]] += 1
    assert set(counts.values()) == {33}
