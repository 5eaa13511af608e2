import time
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from snakka.metadata.shared_map import MapDelta, SharedMap


@given(st.lists(st.dictionaries(st.integers(0, 40), st.none() | st.integers(), max_size=6)))
def test_a_version_reads_like_the_dictionary_it_stands_for(changes: list[dict[int, int]]) -> None:
    version: SharedMap[int, int] = SharedMap({key: key for key in range(0, 40, 3)})
    model: dict[int, int] = dict(version)
    for each in changes:
        before, model_before = version, dict(model)
        version = version.after(each)
        model.update(each)
        model = {key: value for key, value in model.items() if value is not None}
        assert dict(version.items()) == dict(version) == model
        assert len(version) == len(model)
        assert version == SharedMap(model)
        assert all((key in version) == (key in model) for key in range(41))
        assert all(version.get(key, "none") == model.get(key, "none") for key in range(41))
        assert dict(before) == model_before, "an older version has changed"


def test_no_change_is_the_same_version() -> None:
    version = SharedMap({1: "a"})
    assert version.after({}) is version


def test_ten_thousand_single_changes_do_not_copy_ten_thousand_entries_each() -> None:
    # Ten thousand copies of this dictionary would take a second and more.
    version = SharedMap(dict.fromkeys(range(10000), 0))
    random = Random(1)
    started = time.process_time()
    for turn in range(10_000):
        version = version.after({random.randrange(10_000): turn})
    assert time.process_time() - started < 0.5


def test_a_delta_reads_as_it_will_be_and_remembers_what_was() -> None:
    delta = MapDelta(SharedMap({"kept": 1, "gone": 2, "changed": 3}))
    assert not delta
    delta.set("changed", 4)
    delta.set("new", 5)
    delta.remove("gone")
    delta.set("brief", 6)
    delta.remove("brief")
    assert {key: delta.get(key) for key in ("kept", "gone", "changed", "new", "brief")} == {
        "kept": 1, "gone": None, "changed": 4, "new": 5, "brief": None
    }  # fmt: skip
    assert delta.changes == {"changed": 4, "new": 5, "gone": None}
    assert dict(delta.after()) == {"kept": 1, "changed": 4, "new": 5}
    assert dict(delta.before) == {"kept": 1, "gone": 2, "changed": 3}
