"""How much of a log compaction would clean, and whether it is time. Pure.

The clean part ends at the first dirty offset, which the cleaner-offset-checkpoint remembers. The
dirty part that can be cleaned ends with the last whole segment below what may still change: the
active segment, undecided transactions, and records younger than `min.compaction.lag.ms`.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from snakka.storage.config import LogConfig
from snakka.storage.indexes import RELATIVE_OFFSET_MAX


class SegmentFacts(NamedTuple):
    """A segment as compaction sees it. The first timestamp is -1 where it is not known."""

    base_offset: int
    size_bytes: int
    first_timestamp: int
    largest_timestamp: int


class LogFacts(NamedTuple):
    """Where a log stands; `cleaned_offset` is None if it has never been compacted."""

    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    cleaned_offset: int | None


class Cleanable(NamedTuple):
    """The part of a log to clean next, `[first_dirty_offset, end_offset)`."""

    first_dirty_offset: int
    end_offset: int
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool  # records have waited for `max.compaction.lag.ms` (KIP-354)

    @property
    def dirty_ratio(self) -> float:
        total_bytes = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total_bytes if total_bytes else 0.0

    def is_due(self, config: LogConfig) -> bool:
        if not config.is_compacted or not self.dirty_bytes:
            return False
        return self.is_overdue or self.dirty_ratio > config.min_cleanable_dirty_ratio


def find_first_dirty_offset(facts: LogFacts) -> int:
    """Where the last pass ended, unless the log has been cut there since."""
    cleaned_offset = facts.cleaned_offset
    if cleaned_offset is None:
        return facts.log_start_offset
    if not facts.log_start_offset <= cleaned_offset <= facts.log_end_offset:
        return facts.log_start_offset
    return cleaned_offset


def find_cleanable(
    segments: Sequence[SegmentFacts], facts: LogFacts, config: LogConfig, now_ms: int
) -> Cleanable:
    """What could be cleaned of a log whose last segment is the active one."""
    first_dirty = find_first_dirty_offset(facts)
    end_offset = max(first_dirty, _first_uncleanable(segments, facts, first_dirty, config, now_ms))
    end_offset = _floor_base(segments, end_offset)
    clean = dirty = 0
    is_overdue = False
    for index, segment in enumerate(segments[:-1]):
        if segment.base_offset >= end_offset:
            break
        if segments[index + 1].base_offset <= first_dirty:
            clean += segment.size_bytes
            continue
        dirty += segment.size_bytes
        waited_ms = now_ms - segment.first_timestamp
        is_late = segment.first_timestamp > 0 and waited_ms > config.max_compaction_lag_ms
        is_overdue = is_overdue or is_late
    return Cleanable(first_dirty, end_offset, clean, dirty, is_overdue)


def _first_uncleanable(
    segments: Sequence[SegmentFacts],
    facts: LogFacts,
    first_dirty: int,
    config: LogConfig,
    now_ms: int,
) -> int:
    uncleanable = min(facts.last_stable_offset, segments[-1].base_offset)
    if config.min_compaction_lag_ms <= 0:
        return uncleanable
    for segment, following in pairwise(segments):
        is_young = segment.largest_timestamp > now_ms - config.min_compaction_lag_ms
        if following.base_offset > first_dirty and is_young:
            return min(uncleanable, segment.base_offset)
    return uncleanable


def _floor_base(segments: Sequence[SegmentFacts], offset: int) -> int:
    """Segments are cleaned whole: the base of the one that would hold `offset`."""
    floor = segments[0].base_offset
    for segment in segments:
        if segment.base_offset > offset:
            break
        floor = segment.base_offset
    return floor


class GroupFacts(NamedTuple):
    """A segment that is to be merged with its neighbours; `end_offset` is the next one's base."""

    base_offset: int
    end_offset: int
    size_bytes: int
    index_bytes: int  # of the larger index


def group_sizes(segments: Sequence[GroupFacts], config: LogConfig) -> list[int]:
    """How many segments in a row become one: as many as surely fit into a segment."""
    counts: list[int] = []
    size_bytes = index_bytes = base_offset = 0
    for segment in segments:
        size_bytes += segment.size_bytes
        index_bytes += segment.index_bytes
        last_offset = segment.end_offset - 1
        fits = (
            size_bytes <= config.segment_bytes
            and index_bytes <= config.segment_index_bytes
            and (not segment.size_bytes or last_offset - base_offset <= RELATIVE_OFFSET_MAX)
        )
        if counts and fits:
            counts[-1] += 1
        else:
            counts.append(1)
            size_bytes, index_bytes = segment.size_bytes, segment.index_bytes
            base_offset = segment.base_offset
    return counts
