"""Finding offsets by timestamp, and the aborted transactions of a range.

Not here: ListOffsets' special timestamps, which are plain attributes of a log, and what lies in
remote storage.
"""

from typing import NamedTuple

from snakka.storage.log import Log
from snakka.storage.read import LogRead
from snakka.storage.scan import read_batch
from snakka.storage.segment import BatchPosition, Segment
from snakka.storage.transaction_index import AbortedTransaction


class FoundTimestamp(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int


def find_offset_by_timestamp(log: Log, timestamp: int) -> FoundTimestamp | None:
    """The first record from the log start on that is at `timestamp` or later."""
    for segment in log.segments:
        if segment.largest_timestamp.timestamp < timestamp:
            continue
        found = segment.find_timestamp(timestamp, log.log_start_offset)
        while found is not None:
            record = _first_record(segment, found, timestamp, log.log_start_offset)
            if record is not None:
                return record
            next_offset = found.header.next_offset
            found = segment.find_timestamp(timestamp, next_offset)
    return None


def find_max_timestamp(log: Log) -> FoundTimestamp | None:
    """The first record with the largest timestamp of the log (KIP-734)."""
    segment = max(log.segments, key=lambda segment: segment.largest_timestamp.timestamp)
    largest = segment.largest_timestamp
    found = segment.find_batch(largest.offset) if largest.timestamp >= 0 else None
    if found is None:
        return None
    return _first_record(segment, found, largest.timestamp, 0)


def find_aborted_transactions(
    log: Log, offset: int, upper_bound_offset: int
) -> list[AbortedTransaction]:
    """The aborted transactions with records in `[offset, upper_bound_offset)`.

    A transaction is listed in the segment of its marker, which may be any later one. The search
    ends where an entry says that everything before the bound was decided.
    """
    aborted = []
    for segment in log.segments.from_offset(offset):
        if not segment.has_transaction_index:
            continue
        for entry in segment.transaction_index.entries():
            if entry.last_offset >= offset and entry.first_offset < upper_bound_offset:
                aborted.append(entry)
            if entry.last_stable_offset >= upper_bound_offset:
                return aborted
    return aborted


def find_upper_bound_offset(log: Log, read: LogRead) -> int:
    """An offset that nothing handed out by `read` reaches, and not much above."""
    if read.last_segment is None:
        return log.log_start_offset
    last = read.runs[-1]
    upper = read.last_segment.offset_index.find_upper_bound(last.position + last.size_bytes)
    if upper is not None:
        return upper
    following = log.segments.floor_index(read.last_segment.base_offset) + 1
    if following < len(log.segments):
        return log.segments[following].base_offset
    return log.log_end_offset


def _first_record(
    segment: Segment, found: BatchPosition, timestamp: int, start_offset: int
) -> FoundTimestamp | None:
    header = found.header
    for record in read_batch(segment.file, found.position, header).records():
        if record.timestamp_ms >= timestamp and record.offset >= start_offset:
            return FoundTimestamp(record.timestamp_ms, record.offset, header.leader_epoch)
    return None
