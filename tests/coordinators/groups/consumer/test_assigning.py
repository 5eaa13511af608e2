"""Assignors hand out everything once, evenly, and move little."""

from hypothesis import given
from hypothesis import strategies as st

from snakka.coordinators.groups.consumer.assigning import (
    ASSIGNORS,
    Subscriber,
    assign_range,
    assign_uniform,
)
from snakka.coordinators.groups.consumer.member import NO_PARTITIONS, Partition
from snakka.protocol.types import Uuid
from tests.coordinators.groups.consumer.topics import topic_id

TOPICS = tuple(topic_id(name) for name in "tuv")
SUBSCRIPTIONS = st.lists(st.frozensets(st.sampled_from(TOPICS)), min_size=1, max_size=7)
COUNTS = st.fixed_dictionaries({each: st.integers(0, 9) for each in TOPICS})


def subscribers(subscriptions: list[frozenset[Uuid]]) -> list[Subscriber]:
    return [
        Subscriber(f"m{index}", None, each, NO_PARTITIONS)
        for index, each in enumerate(subscriptions)
    ]


@given(subscriptions=SUBSCRIPTIONS, counts=COUNTS, name=st.sampled_from(sorted(ASSIGNORS)))
def test_everything_is_handed_out_once_to_who_wants_it(
    subscriptions: list[frozenset[Uuid]], counts: dict[Uuid, int], name: str
) -> None:
    wanted = frozenset().union(*subscriptions)
    targets = ASSIGNORS[name](subscribers(subscriptions), counts)
    handed_out = [each for target in targets.values() for each in target]
    everything = {Partition(each, i) for each in wanted for i in range(counts[each])}
    assert len(handed_out) == len(everything)
    assert set(handed_out) == everything
    for index, topics in enumerate(subscriptions):
        assert {each.topic_id for each in targets[f"m{index}"]} <= topics


@given(members=st.integers(1, 8), gone=st.integers(0, 7), counts=COUNTS)
def test_uniform_is_even_and_moves_no_more_than_it_has_to(
    members: int, gone: int, counts: dict[Uuid, int]
) -> None:
    everybody = subscribers([frozenset(TOPICS)] * members)
    before = assign_uniform(everybody, counts)
    sizes = [len(each) for each in before.values()]
    assert max(sizes) - min(sizes) <= 1
    left = [
        each._replace(before=before[each.member_id])
        for index, each in enumerate(everybody)
        if index != gone or members == 1
    ]
    after = assign_uniform(left, counts)
    for each in left:
        assert before[each.member_id] <= after[each.member_id]


def test_range_gives_the_same_runs_of_all_topics() -> None:
    both = subscribers([frozenset(TOPICS)] * 2)
    targets = assign_range(both, {TOPICS[0]: 3, TOPICS[1]: 3})
    assert targets["m0"] == {Partition(each, i) for each in TOPICS[:2] for i in (0, 1)}
    assert targets["m1"] == {Partition(each, 2) for each in TOPICS[:2]}


def test_range_knows_static_members_by_their_instance() -> None:
    named = [
        Subscriber("x", "b", frozenset(TOPICS), NO_PARTITIONS),
        Subscriber("y", "a", frozenset(TOPICS), NO_PARTITIONS),
        Subscriber("a", None, frozenset(TOPICS), NO_PARTITIONS),
    ]
    targets = assign_range(named, {TOPICS[0]: 3})
    owners = {next(iter(each)).partition: owner for owner, each in targets.items()}
    assert owners == {0: "y", 1: "x", 2: "a"}
