"""Deadlines come up in order, whatever was set and cleared before."""

from hypothesis import given
from hypothesis import strategies as st

from snakka.coordinators.deadlines import Deadlines

KEYS = st.sampled_from("abcdef")
STEPS = st.one_of(
    st.tuples(st.just("set"), KEYS, st.integers(0, 50)),
    st.tuples(st.just("clear"), KEYS, st.just(0)),
    st.tuples(st.just("pop"), st.just(""), st.integers(0, 10)),
)


@given(steps=st.lists(STEPS, max_size=60))
def test_against_a_plain_table(steps: list[tuple[str, str, int]]) -> None:
    deadlines: Deadlines[str] = Deadlines()
    table: dict[str, int] = {}
    now_ms = 0
    for step, key, amount in steps:
        if step == "set":
            deadlines.set(key, now_ms + amount)
            table[key] = now_ms + amount
        elif step == "clear":
            deadlines.clear(key)
            table.pop(key, None)
        else:
            now_ms += amount
            due = set()
            while (popped := deadlines.pop_due(now_ms)) is not None:
                due.add(popped)
            assert due == {each for each, at_ms in table.items() if at_ms <= now_ms}
            table = {each: at_ms for each, at_ms in table.items() if at_ms > now_ms}
        next_ms = deadlines.next_ms()
        assert (next_ms is None) == (not table)
        assert next_ms is None or next_ms <= min(table.values())


def test_renewing_does_not_grow_the_heap() -> None:
    deadlines: Deadlines[str] = Deadlines()
    for at_ms in range(10_000):
        deadlines.set("session", at_ms)
    assert len(deadlines._heap) == 1
