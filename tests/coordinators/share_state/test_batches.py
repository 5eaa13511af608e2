"""Batches put together, against what they say of each offset."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from snakka.coordinators.share_state.batches import UNKNOWN_OFFSET, DeliveryBatch, combine

OFFSETS = st.integers(0, 40)
BATCHES = st.lists(
    st.builds(
        lambda first, length, state, count: DeliveryBatch(first, first + length, state, count),
        *(OFFSETS, st.integers(0, 15), st.sampled_from([0, 2, 4]), st.integers(1, 3)),
    ),
    max_size=12,
)


@given(BATCHES, st.one_of(st.just(UNKNOWN_OFFSET), OFFSETS))
def test_each_offset_is_as_the_furthest_batch_says(
    batches: list[DeliveryBatch], start: int
) -> None:
    combined = combine(batches, start)
    said: dict[int, tuple[int, int]] = {}
    for first, last, state, count in batches:
        for offset in range(max(first, start), last + 1):
            said[offset] = max(said.get(offset, (0, 0)), (count, state))
    assert {
        offset: (each.delivery_count, each.delivery_state)
        for each in combined
        for offset in range(each.first_offset, each.last_offset + 1)
    } == said
    for before, after in pairwise(combined):
        assert before.last_offset < after.first_offset
        # No two that could be one.
        assert before.last_offset + 1 < after.first_offset or before[2:] != after[2:]


@given(BATCHES, BATCHES)
def test_it_does_not_matter_when_they_are_put_together(
    some: list[DeliveryBatch], others: list[DeliveryBatch]
) -> None:
    at_once = combine([*some, *others], UNKNOWN_OFFSET)
    assert (
        combine([*combine(some, UNKNOWN_OFFSET), *combine(others, UNKNOWN_OFFSET)], UNKNOWN_OFFSET)
        == at_once
    )
