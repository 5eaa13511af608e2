"""Ranges of offsets to slices, one for each Spark task. Pure.

A partition with much to read feeds many tasks: it is cut where its average record size says, so the
slices are about equal in bytes. Offsets within a slice keep their order.

Not here: how far a micro-batch goes (admission.py), reading a slice (reading.py).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from snakka.client.records import TopicPartition
from snakka.pipeline.offsets import OffsetRange


@dataclass(frozen=True, slots=True)
class Splitting:
    """How large a slice may be; `slices_min` asks for more of them than that would give."""

    bytes_max: int
    rows_max: int | None = None
    slices_min: int | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """What one task reads; `size_bytes` is an estimate."""

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


def _cut(whole: OffsetRange, count: int, density: float) -> Iterable[Slice]:
    """`count` slices of equal length."""
    offsets = whole.end - whole.start
    bounds = [whole.start + offsets * i // count for i in range(count + 1)]
    for start, end in pairwise(bounds):
        yield Slice(OffsetRange(whole.where, start, end), math.ceil((end - start) * density))
