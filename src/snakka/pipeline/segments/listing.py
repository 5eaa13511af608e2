"""Which segments there are below some directories: those of log directories and of tiers.

In a log directory a partition is `topic-partition` and a segment is named after its base offset. In
the directory tier that Apache Kafka's tests and small installations use (LocalTieredStorage) both
carry an id behind that. What is being moved or deleted is left out, and so is the metadata log.

Not here: what is in a segment (reading.py, integrity.py).
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from snakka.storage.names import (
    LOG_SUFFIX,
    METADATA_TOPIC,
    DirectoryKind,
    TopicPartition,
    find_offset_file,
    find_partition_directory,
)

_ID = r"[A-Za-z0-9_-]{22}"
_TIERED_DIRECTORY: Final = re.compile(rf"(\S+-\d+)-{_ID}")
_TIERED_FILE: Final = re.compile(rf"(\d{{20}})-{_ID}(\.log)")


class SegmentFile(NamedTuple):
    """One segment; `stem` is its path without a suffix."""

    topic: str
    partition: int
    base_offset: int
    stem: str
    size_bytes: int
    is_last: bool  # of its partition: it may be written to


def find_segments(
    directories: Iterable[str], topics: re.Pattern[str] | None = None
) -> list[SegmentFile]:
    """All segments of the topics that match, by directory, partition and offset."""
    found: list[SegmentFile] = []
    for directory in directories:
        for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
            where = _partition_of(entry.name) if entry.is_dir() else None
            if where is None or where.topic == METADATA_TOPIC:
                continue
            if topics is None or topics.fullmatch(where.topic):
                found += _mark_last(sorted(_segments_in(entry.path, where)))
    return found


def deal(segments: Iterable[SegmentFile], hands: int) -> list[SegmentFile]:
    """In another order: of equal slices of it each has about as much to read."""
    largest_first = sorted(segments, key=lambda segment: -segment.size_bytes)
    return [each for hand in range(hands) for each in largest_first[hand::hands]]


def _partition_of(name: str) -> TopicPartition | None:
    tiered = _TIERED_DIRECTORY.fullmatch(name)
    found = find_partition_directory(tiered[1] if tiered else name)
    if found is None or found.kind is not DirectoryKind.CURRENT:
        return None
    return found.partition


def _segments_in(path: str, where: TopicPartition) -> Iterator[SegmentFile]:
    for entry in os.scandir(path):
        base_offset = _base_offset_of(entry.name)
        if base_offset is not None:
            stem = entry.path.removesuffix(LOG_SUFFIX)
            size_bytes = entry.stat().st_size
            yield SegmentFile(*where, base_offset, stem, size_bytes, is_last=False)


def _base_offset_of(name: str) -> int | None:
    tiered = _TIERED_FILE.fullmatch(name)
    found = find_offset_file(tiered[1] + tiered[2] if tiered else name)
    if found is None or found.suffix != LOG_SUFFIX or found.state:
        return None
    return found.offset


def _mark_last(segments: list[SegmentFile]) -> Iterator[SegmentFile]:
    for _, of_partition in groupby(segments, lambda each: (each.topic, each.partition)):
        *others, last = of_partition
        yield from others
        yield last._replace(is_last=True)
