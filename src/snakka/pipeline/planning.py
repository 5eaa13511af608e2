"""Ranges of offsets to slices, and these to Spark's tasks. Pure.

A partition with much to read feeds many tasks: it is cut where its average record size says, so the
slices are about equal in bytes. Partitions with little to read share a task. Offsets within a slice
keep their order.

Not here: how far a micro-batch goes (admission.py), reading a slice (reading.py).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from snakka.client.records import TopicPartition
from snakka.pipeline.offsets import OffsetRange

# Small slices are put together up to this: to read it takes less time than Spark needs for a task.
SHARED_BYTES_MAX: Final = 4 << 20
SHARED_SLICES_MAX: Final = 128


@dataclass(frozen=True, slots=True)
class Splitting:
    """How large a slice may be; `slices_min` asks for more tasks than that would give."""

    bytes_max: int
    rows_max: int | None = None
    slices_min: int | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """What is read in one go; `size_bytes` is an estimate, and 0 where there is none."""

    range: OffsetRange
    size_bytes: int


def split(
    ranges: Iterable[OffsetRange],
    bytes_per_offset: Mapping[TopicPartition, float],
    splitting: Splitting,
) -> list[Slice]:
    """The slices of all ranges, empty ones left out."""
    full = [each for each in ranges if each.end > each.start]
    total = sum(each.end - each.start for each in full)
    slices: list[Slice] = []
    for each in full:
        offsets = each.end - each.start
        density = bytes_per_offset.get(each.where, 0.0)
        wanted = [offsets * density / splitting.bytes_max]
        if splitting.rows_max is not None:
            wanted.append(offsets / splitting.rows_max)
        if splitting.slices_min is not None and splitting.slices_min > len(full):
            wanted.append(splitting.slices_min * offsets / total)
        count = min(offsets, max(1, math.ceil(max(wanted))))
        slices += _cut(each, count, density)
    return slices


def pack(slices: Sequence[Slice], splitting: Splitting) -> list[tuple[Slice, ...]]:
    """The tasks: neighbours that are small together share one."""
    tasks: list[list[Slice]] = []
    size_bytes = rows = 0
    bytes_max = min(SHARED_BYTES_MAX, splitting.bytes_max)
    may_share = len(slices) - (splitting.slices_min or 1)
    rows_max = math.inf if splitting.rows_max is None else splitting.rows_max
    for each in slices:
        offsets = each.range.end - each.range.start
        size_bytes += each.size_bytes or bytes_max
        rows += offsets
        is_small = size_bytes <= bytes_max and rows <= rows_max
        if tasks and is_small and len(tasks[-1]) < SHARED_SLICES_MAX and may_share > 0:
            tasks[-1].append(each)
            may_share -= 1
        else:
            tasks.append([each])
            size_bytes, rows = each.size_bytes or bytes_max, offsets
    return [tuple(each) for each in tasks]


def _cut(whole: OffsetRange, count: int, density: float) -> Iterable[Slice]:
    """`count` slices of equal length."""
    offsets = whole.end - whole.start
    bounds = [whole.start + offsets * i // count for i in range(count + 1)]
    for start, end in pairwise(bounds):
        yield Slice(OffsetRange(whole.where, start, end), math.ceil((end - start) * density))
