"""Conditions narrow a read, never too much."""

import operator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.datasource import EqualTo, GreaterThan, In, IsNotNull, LessThan, Not

from snakka.client.records import TopicPartition
from snakka.pipeline.admission import UNLIMITED
from snakka.pipeline.offsets import OffsetRange
from snakka.pipeline.pushdown import Bounds, Condition
from snakka.pipeline.spark_filters import conditions

A = TopicPartition("a", 0)
MATCHES = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def narrowed(*conditions: Condition) -> Bounds:
    bounds = Bounds()
    for each in conditions:
        bounds.narrow(each)
    return bounds


@given(st.lists(st.tuples(st.sampled_from(sorted(MATCHES)), st.integers(0, 30)), max_size=4))
def test_bounds_keep_just_the_offsets_that_meet_all_conditions(
    wanted: list[tuple[str, int]],
) -> None:
    left = narrowed(*(Condition("offset", *each) for each in wanted)).cut(OffsetRange(A, 3, 20))
    expected = [
        offset
        for offset in range(3, 20)
        if all(MATCHES[comparison](offset, value) for comparison, value in wanted)
    ]
    assert list(range(left.start, left.end)) == expected


def test_an_offset_in_a_list_is_between_the_least_and_the_largest() -> None:
    left = narrowed(Condition("offset", "in", (9, 5, 7))).cut(OffsetRange(A, 0, 20))
    assert (left.start, left.end) == (5, 10)


def test_topics_and_partitions_are_those_that_every_condition_allows() -> None:
    bounds = narrowed(
        Condition("topic", "in", ("a", "b")),
        Condition("topic", "=", "b"),
        Condition("partition", "=", 1),
    )
    assert bounds.admits(TopicPartition("b", 1))
    assert not bounds.admits(TopicPartition("a", 1))
    assert not bounds.admits(TopicPartition("b", 0))


def test_a_timestamp_narrows_from_below_alone() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    later = noon + timedelta(microseconds=2500)
    bounds = narrowed(
        Condition("timestamp", ">=", noon),
        Condition("timestamp", ">", later),
        Condition("timestamp", "<", noon + timedelta(days=1)),
    )
    assert bounds.timestamp_ms == int(noon.timestamp() * 1000) + 2
    assert bounds.end == UNLIMITED


@pytest.mark.parametrize(
    "unknown",
    [Condition("value", "=", b"x"), Condition("offset", "=", None), Condition("topic", ">", "a")],
)
def test_what_cannot_narrow_is_passed_over(unknown: Condition) -> None:
    assert narrowed(unknown) == Bounds()


def test_sparks_filters_become_conditions() -> None:
    assert list(conditions(EqualTo(("topic",), "a"))) == [Condition("topic", "=", "a")]
    assert list(conditions(GreaterThan(("offset",), 3))) == [Condition("offset", ">", 3)]
    assert list(conditions(In(("offset",), (1, 2)))) == [Condition("offset", "in", (1, 2))]
    assert list(conditions(Not(LessThan(("offset",), 3)))) == []
    assert list(conditions(IsNotNull(("offset",)))) == []
    assert list(conditions(EqualTo(("headers", "key"), "a"))) == []
