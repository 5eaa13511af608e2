"""Recovering a segment after a crash: what is whole stays, what is not is cut and reported.

Everything before the recovery point was synced and is not read again, except from the last index
entry that proves right. From there on every batch is checked; at the first that is not whole and
unaltered the log ends. If intact records follow it, or whole segments, then this was not just a
write that the crash tore: what is cut is kept aside under the name `.damaged`, for a leader has
these records, and where there is none an operator may want them. Either way a `Damage` says so.

Memory is bounded by the window of the sweep, time by what lies past the recovery point.
"""

from typing import NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import Batch
from snakka.storage.epochs import LeaderEpochs
from snakka.storage.errors import CorruptFileError
from snakka.storage.names import (
    DAMAGED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.producer_state import ProducerState
from snakka.storage.scan import (
    SWEEP_WINDOW_BYTES,
    find_marker,
    has_intact_batch,
    scan_headers,
    sweep,
)
from snakka.storage.segment import BatchPosition, Segment
from snakka.storage.transaction_index import AbortedTransaction

_ENTRIES_CHECKED_MAX = 64


class Damage(NamedTuple):
    """Where a log was found to be damaged, and how much was cut off there."""

    path: str
    position: int
    reason: str
    cut_bytes: int
    kept_aside: str | None  # None if nothing intact was cut: a write torn by the crash


class TrustedStart(NamedTuple):
    """The first batch to check: its position, and the offset that it has to have."""

    position: int
    offset: int


class BatchReplay(NamedTuple):
    """What learns from the batches that recovery passes."""

    epochs: LeaderEpochs
    producers: ProducerState

    def take(self, batch: Batch) -> AbortedTransaction | None:
        header = batch.header
        latest = self.epochs.latest_epoch
        if header.leader_epoch >= 0 and (latest is None or header.leader_epoch > latest):
            self.epochs.assign(header.leader_epoch, header.base_offset)
        completed = self.producers.replay(header, find_marker(batch))
        if completed is None or not completed.is_aborted:
            return None
        return AbortedTransaction.of(completed)


def create_missing_indexes(files: OpenFiles, segment: Segment) -> bool:
    """Makes empty indexes where one is missing or damaged; True if there was such a one."""
    damaged = False
    for suffix in (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX):
        path = segment.path(suffix)
        try:
            files.get(path)
        except FileNotFoundError:
            files.get(path, create=True)
            damaged = True
    damaged = (
        damaged
        or segment.offset_index.entries.find_damage() is not None
        or segment.time_index.entries.find_damage() is not None
    )
    if damaged:
        segment.reset_indexes()
    return damaged


def find_trusted_start(segment: Segment, recovery_point: int) -> TrustedStart:
    """Where to begin: at `recovery_point`, found from the last index entry that proves right.

    What the indexes say of later records is dropped. Without any right entry the segment is read
    from its start.
    """
    if not _has_sound_transactions(segment, recovery_point):
        segment.reset_indexes()
        return TrustedStart(0, segment.base_offset)
    segment.offset_index.truncate_to(recovery_point)
    segment.time_index.truncate_to(recovery_point)
    index = segment.offset_index
    for _ in range(min(_ENTRIES_CHECKED_MAX, len(index.entries))):
        found = segment.find_indexed(index.last_entry)
        if found is not None:
            segment.time_index.truncate_to(found.header.next_offset)
            return _walk_to(segment, found, recovery_point)
        index.entries.truncate(len(index.entries) - 1)
    segment.reset_indexes()
    return TrustedStart(0, segment.base_offset)


def _walk_to(segment: Segment, found: BatchPosition, recovery_point: int) -> TrustedStart:
    """From an indexed batch to the one that begins at `recovery_point`, if it is whole so far."""
    start = TrustedStart(found.position, found.header.base_offset)
    try:
        for position, header in scan_headers(segment.file, found.position, segment.size_bytes):
            if header.base_offset >= recovery_point:
                break
            start = TrustedStart(position + header.size_bytes, header.next_offset)
    except MalformedError:
        pass
    return start


def _has_sound_transactions(segment: Segment, recovery_point: int) -> bool:
    try:
        segment.transaction_index.truncate_to(recovery_point)
    except CorruptFileError:
        segment.transaction_index.clear()
        return False
    return True


def recover_segment(
    files: OpenFiles,
    segment: Segment,
    start: int,
    replay: BatchReplay,
    *,
    index_interval_bytes: int,
    has_gaps: bool,
) -> Damage | None:
    """Checks a segment from position `start` on, rebuilds its indexes there, and cuts its end.

    `replay` stands at the offset of `start`, and so do the indexes.
    """
    file = segment.file
    end = file.size()
    segment.size_bytes = start
    if start:
        segment.transaction_index.truncate_to(replay.producers.end_offset)
    elif segment.has_transaction_index:
        segment.transaction_index.clear()
    builder = segment.continue_indexes(start, index_interval_bytes)
    reason = ""
    try:
        next_offset = replay.producers.end_offset
        for position, batch in sweep(file, start, end, next_offset, has_gaps=has_gaps):
            aborted = replay.take(batch)
            if aborted is not None:
                segment.append_aborted(aborted)
            builder.add(batch.header, position)
            builder.write_full_pages()
            segment.size_bytes = position + batch.header.size_bytes
    except MalformedError as error:
        reason = error.reason
    builder.complete()
    segment.forget_largest_timestamp()
    if segment.size_bytes == end:
        return None
    return _cut_damage(files, segment, end, replay.producers.end_offset, reason)


def _cut_damage(
    files: OpenFiles, segment: Segment, end: int, next_offset: int, reason: str
) -> Damage:
    position, file, path = segment.size_bytes, segment.file, segment.path(LOG_SUFFIX)
    kept_aside = None
    if has_intact_batch(file, position, end, next_offset):
        kept_aside = f"{path}.{position}{DAMAGED_SUFFIX}"
        copy = files.disk.open(kept_aside, create=True)
        for at in range(position, end, SWEEP_WINDOW_BYTES):
            piece = file.read(at, min(SWEEP_WINDOW_BYTES, end - at))
            copy.write([piece], at - position)
        copy.sync()
    file.truncate(position)
    return Damage(path, position, reason, end - position, kept_aside)


def set_aside(files: OpenFiles, segment: Segment, reason: str) -> Damage:
    """Takes a whole segment out of its log, and keeps its records."""
    path = segment.path(LOG_SUFFIX)
    kept_aside = path + DAMAGED_SUFFIX
    for index_path in segment.paths[1:]:
        files.disk.remove(index_path)
        files.forget(index_path)
    files.disk.rename(path, kept_aside)
    files.forget(path)
    return Damage(path, 0, reason, segment.size_bytes, kept_aside)
