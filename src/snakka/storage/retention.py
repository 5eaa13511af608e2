"""Which segments of a log are over its retention, by start, size and time. The decision is pure.

A segment goes only when the ones before it go, and when all of it is below the high watermark.
When it is asked for: upkeep.py.
"""

from collections.abc import Sequence
from typing import NamedTuple

from snakka.storage.config import LogConfig
from snakka.storage.log import Log
from snakka.storage.segment import Segment


class SegmentFacts(NamedTuple):
    """What retention looks at; `end_offset` is the next segment's base, or the log's end."""

    end_offset: int
    size_bytes: int
    largest_timestamp: int


class Limits(NamedTuple):
    """Where a log stands."""

    log_start_offset: int
    high_watermark: int
    now_ms: int


def count_deletable(segments: Sequence[SegmentFacts], limits: Limits, config: LogConfig) -> int:
    """How many segments, counted from the oldest, may go. An empty last one never does."""
    surplus_bytes = _surplus_bytes(segments, config)
    for index, segment in enumerate(segments):
        is_last = index == len(segments) - 1
        is_before_start = segment.end_offset <= limits.log_start_offset and not is_last
        is_surplus = 0 <= segment.size_bytes <= surplus_bytes
        is_expired = (
            config.is_deleted
            and config.retention_ms >= 0
            and limits.now_ms - segment.largest_timestamp > config.retention_ms
        )
        is_replicated = segment.end_offset <= limits.high_watermark
        is_empty = is_last and not segment.size_bytes
        if not is_replicated or is_empty or not (is_before_start or is_surplus or is_expired):
            return index
        surplus_bytes -= segment.size_bytes
    return len(segments)


def _surplus_bytes(segments: Sequence[SegmentFacts], config: LogConfig) -> int:
    if not config.is_deleted or config.retention_bytes < 0:
        return -1
    return sum(segment.size_bytes for segment in segments) - config.retention_bytes


def find_deletable(log: Log, *, now_ms: int) -> int:
    """How many segments of `log` are over retention now."""
    limits = Limits(log.log_start_offset, log.high_watermark, now_ms)
    return count_deletable(_facts(log), limits, log.config)


def enforce_retention(log: Log, *, now_ms: int) -> int:
    """Removes the segments that are over retention; returns how many."""
    log.write_staged()
    count = find_deletable(log, now_ms=now_ms)
    if not count:
        return 0
    if count == len(log.segments):
        log.roll(now_ms=now_ms)
    log.advance_log_start(log.segments[count].base_offset)
    try:
        removed = log.segments.remove_first(count)
        for segment in removed:
            log.snapshots.remove(segment.base_offset)
    except OSError as error:
        raise log.fail(error) from error
    return count


def _facts(log: Log) -> list[SegmentFacts]:
    segments = list(log.segments)
    ends = [segment.base_offset for segment in segments[1:]] + [log.log_end_offset]
    return [
        SegmentFacts(end, segment.size_bytes, _largest_timestamp(segment))
        for segment, end in zip(segments, ends, strict=True)
    ]


def _largest_timestamp(segment: Segment) -> int:
    """Records without timestamps are as old as their file."""
    timestamp = segment.largest_timestamp.timestamp
    return timestamp if timestamp >= 0 else segment.modified_ms
