from hypothesis import given
from hypothesis import strategies as st

from snakka.quorum.majority import (
    has_majority,
    is_majority_lost,
    majority_size,
    replicated_offset,
)

members = st.sets(st.integers(0, 8), min_size=1)


def test_a_majority_is_more_than_half() -> None:
    assert [majority_size(count) for count in range(1, 8)] == [1, 2, 2, 3, 3, 4, 4]


@given(members, st.sets(st.integers(0, 12)), st.sets(st.integers(0, 12)))
def test_two_majorities_share_a_member(voters: set[int], first: set[int], second: set[int]) -> None:
    if has_majority(voters, first) and has_majority(voters, second):
        assert voters & first & second


@given(members, st.integers(0, 8), st.sets(st.integers(0, 8)), st.sets(st.integers(0, 8)))
def test_majorities_of_sets_that_differ_by_one_share_a_member(
    voters: set[int], other: int, first: set[int], second: set[int]
) -> None:
    changed = voters ^ {other}
    if changed and has_majority(voters, first) and has_majority(changed, second):
        assert voters & changed & first & second


@given(members, st.sets(st.integers(0, 8)))
def test_a_majority_is_lost_once_all_the_others_would_not_do(
    voters: set[int], refusing: set[int]
) -> None:
    assert is_majority_lost(voters, refusing) != has_majority(voters, voters - refusing)


@given(st.lists(st.integers(-1, 20), min_size=1, max_size=7))
def test_a_replicated_offset_is_the_highest_on_a_majority(ends: list[int]) -> None:
    offset = replicated_offset(ends)
    assert sum(end >= offset for end in ends) >= majority_size(len(ends))
    assert sum(end > offset for end in ends) < majority_size(len(ends))
