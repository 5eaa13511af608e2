from snakka.storage.placement import choose_directory


def test_the_fewest_partitions_and_the_earlier_of_equals() -> None:
    assert choose_directory({"/a": 3, "/b": 1, "/c": 1}) == "/b"


def test_cordoned_directories_get_none_unless_all_are() -> None:
    assert choose_directory({"/a": 0, "/b": 5}, {"/a"}) == "/b"
    assert choose_directory({"/a": 7, "/b": 5}, {"/a", "/b"}) == "/b"


def test_partitions_spread_evenly() -> None:
    counts = dict.fromkeys(["/a", "/b", "/c"], 0)
    for _ in range(99):
        counts[choose_directory(counts)] += 1
    assert set(counts.values()) == {33}
