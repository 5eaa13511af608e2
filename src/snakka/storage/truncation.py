"""Cutting a log: back to an offset, to nothing, or to where it parted from its leader's.

Before any of it the caller checkpoints a recovery point that is not above the new end: what is
appended after a cut must not pass for flushed because what it replaces was.

A cut is durable on return. Whole segments go first, newest first, so that no crash leaves a hole.
"""

from typing import NamedTuple

from snakka.storage.epochs import EpochEndOffset
from snakka.storage.log import Log
from snakka.storage.producer_rebuild import rebuild_producers
from snakka.storage.producer_state import ProducerState
from snakka.storage.segment import Segment


class Truncation(NamedTuple):
    """Where to cut; if not final, the leader has to be asked again about the epoch before."""

    offset: int
    is_final: bool


def find_truncation(log: Log, leader_epoch: int, leader: EpochEndOffset | None) -> Truncation:
    """How a follower follows the leader's answer about `leader_epoch`, its own latest (KIP-279).

    A leader that knows nothing of the epoch leaves the high watermark as the last common offset.
    """
    if leader is None:
        return Truncation(log.high_watermark, is_final=True)
    own = log.epochs.find_end_offset(leader.epoch, log.log_end_offset)
    if own is None:
        return Truncation(min(leader.end_offset, log.log_end_offset), is_final=True)
    if own.epoch != leader.epoch:
        return Truncation(min(own.end_offset, log.log_end_offset), is_final=False)
    return Truncation(min(own.end_offset, leader.end_offset, log.log_end_offset), is_final=True)


def truncate_to(log: Log, offset: int) -> bool:
    """Cuts everything from `offset` on; False if there was nothing. A batch goes as a whole."""
    log.release_writer()
    if offset >= log.log_end_offset:
        log.epochs.truncate_from_end(log.log_end_offset)
        return False
    if offset < log.segments[0].base_offset:
        truncate_fully(log, offset)
        return True
    try:
        end_offset = _cut(log, offset)
    except OSError as error:
        raise log.fail(error) from error
    log.epochs.truncate_from_end(end_offset)
    log.log_start_offset = min(log.log_start_offset, end_offset)
    log.was_truncated(end_offset)
    return True


def truncate_fully(log: Log, offset: int, *, log_start_offset: int | None = None) -> None:
    """Drops everything; the log goes on at `offset`. With tiered segments it may start before."""
    log.release_writer()
    try:
        log.segments.remove_after(-1)
        log.segments.create(offset)
        log.snapshots.remove_after(-1)
        log.segments.files.disk.sync_directory(log.directory)
    except OSError as error:
        raise log.fail(error) from error
    log.epochs.clear()
    log.producers = ProducerState(end_offset=offset)
    log.log_start_offset = offset if log_start_offset is None else log_start_offset
    log.was_truncated(offset)


def _cut(log: Log, offset: int) -> int:
    segments = log.segments
    if segments.remove_after(offset):
        segments.files.disk.sync_directory(log.directory)
    found = segments.active.find_batch(offset)
    end_offset = offset
    if found is not None:
        end_offset = min(offset, found.header.base_offset)
        _cut_segment(segments.active, end_offset, found.position)
        segments.active.complete_indexes(log.config.index_interval_bytes)
    log.snapshots.remove_after(end_offset)
    log.producers = rebuild_producers(segments, log.snapshots, end_offset)
    return end_offset


def _cut_segment(segment: Segment, end_offset: int, position: int) -> None:
    """Ends `segment` at `position`, where the batch of `end_offset` begins."""
    segment.offset_index.truncate_to(end_offset)
    segment.time_index.truncate_to(end_offset)
    if segment.has_transaction_index:
        segment.transaction_index.truncate_to(end_offset)
    file = segment.file
    file.truncate(position)
    file.sync()
    segment.size_bytes = position
