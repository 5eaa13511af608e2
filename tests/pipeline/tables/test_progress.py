"""Which step is the next one."""

import pytest

from snakka.client.records import TopicPartition
from snakka.pipeline.errors import StaleCommitError
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.tables.progress import check_step
from snakka.pipeline.tables.table import Step

A = TopicPartition("t", 0)
B = TopicPartition("t", 1)


@pytest.mark.parametrize(
    ("stored", "begin", "end"),
    [
        (None, {A: 7}, {A: 9}),
        ({A: 7}, {A: 7}, {A: 7}),
        ({A: 7}, {A: 7, B: 0}, {A: 9, B: 3}),
        ({A: 7}, {A: 7}, {A: 9, B: 3}),
        ({A: 7, B: 4}, {A: 7}, {A: 9}),
    ],
)
def test_the_next_step(stored: Offsets | None, begin: Offsets, end: Offsets) -> None:
    check_step(stored, Step("p", begin, end), "/table")


@pytest.mark.parametrize(
    ("stored", "begin", "end"),
    [
        ({A: 9}, {A: 7}, {A: 9}),
        ({A: 5}, {A: 7}, {A: 9}),
        ({A: 7, B: 4}, {A: 7, B: 3}, {A: 9, B: 4}),
        ({A: 7, B: 4}, {A: 7}, {A: 9, B: 3}),
    ],
)
def test_a_stale_step(stored: Offsets, begin: Offsets, end: Offsets) -> None:
    with pytest.raises(StaleCommitError, match="/table holds other offsets of the pipeline p"):
        check_step(stored, Step("p", begin, end), "/table")
