"""Opening a log: from the files in its directory to a `Log` that can be appended to.

After a clean shutdown the files are believed: the log's end is read from the active segment's last
index entry on, and producers from the last snapshot. After anything else the segments from the
recovery point on are recovered first (recovery.py), and what came of it is synced before use.

What was cut, dropped or rebuilt is reported in `OpenedLog`, for the caller to log.
"""

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from snakka.protocol.errors import MalformedError
from snakka.storage.checkpoints import read_epochs
from snakka.storage.config import LogConfig
from snakka.storage.epochs import LeaderEpochs
from snakka.storage.errors import CorruptFileError
from snakka.storage.flush import Unflushed, unflushed_files
from snakka.storage.leftovers import clear_leftovers
from snakka.storage.log import Log
from snakka.storage.log_state import LogState
from snakka.storage.names import (
    LEADER_EPOCH_CHECKPOINT,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SNAPSHOT_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    OffsetFile,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.producer_rebuild import rebuild_producers
from snakka.storage.producer_state import ProducerState
from snakka.storage.recovery import (
    BatchReplay,
    Damage,
    create_missing_indexes,
    find_trusted_start,
    recover_segment,
    set_aside,
)
from snakka.storage.scan import scan_headers
from snakka.storage.segment import Segment
from snakka.storage.segments import Segments
from snakka.storage.snapshots import Snapshots

_HOLE: Final = "records before it are missing"
_INDEX_ENTRY_BYTES: Final = {OFFSET_INDEX_SUFFIX: 8, TIME_INDEX_SUFFIX: 12}


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """What the log directory's checkpoints say about a log; nothing is known of a new one."""

    log_start_offset: int = 0
    recovery_point: int = 0
    is_clean: bool = False  # the directory was shut down properly
    has_gaps: bool = False  # compaction has been here, whatever the policy is now


class OpenedLog(NamedTuple):
    """A log, and what had to be done to open it."""

    log: Log
    damages: tuple[Damage, ...]
    rebuilt: tuple[str, ...]  # files that were missing or damaged beside the records


@dataclass(slots=True)
class _Opening:
    """The parts of a log as they are found."""

    files: OpenFiles
    config: LogConfig
    segments: Segments
    snapshots: Snapshots
    epochs: LeaderEpochs
    log_start_offset: int
    has_gaps: bool
    damages: list[Damage] = field(default_factory=list)
    rebuilt: list[str] = field(default_factory=list)


def open_log(
    files: OpenFiles,
    directory: str,
    config: LogConfig,
    rng: random.Random,
    *,
    checkpointed: Checkpointed,
    now_ms: int,
) -> OpenedLog:
    """Opens the log in `directory`, making an empty one where there is none.

    Raises `OSError` where the disk fails; damage raises nothing.
    """
    files.disk.make_directory(directory)
    opening = _find_parts(files, directory, config, checkpointed)
    producers = _open_clean(opening) if checkpointed.is_clean else None
    if producers is None:
        producers = _open_unclean(opening, checkpointed.recovery_point)
    producers = _start_anew_if_ended(opening, producers)
    log = _make_log(opening, producers, rng)
    log.producers.expire(now_ms, config.producer_id_expiration_ms)
    return OpenedLog(log, tuple(opening.damages), tuple(opening.rebuilt))


def _find_parts(
    files: OpenFiles, directory: str, config: LogConfig, checkpointed: Checkpointed
) -> _Opening:
    found = clear_leftovers(files, directory)
    aborted = {file.offset for file in found if file.suffix == TRANSACTION_INDEX_SUFFIX}
    segments = []
    for base_offset in sorted(file.offset for file in found if file.suffix == LOG_SUFFIX):
        segment = Segment(
            files, directory, base_offset, has_transaction_index=base_offset in aborted
        )
        segment.size_bytes = files.disk.status(segment.path(LOG_SUFFIX)).size_bytes
        segments.append(segment)
    opening = _Opening(
        files,
        config,
        Segments(files, directory, segments),
        Snapshots(files, directory, [f.offset for f in found if f.suffix == SNAPSHOT_SUFFIX]),
        LeaderEpochs(),
        checkpointed.log_start_offset,
        has_gaps=config.is_compacted or checkpointed.has_gaps,
    )
    if not segments:
        opening.segments.create(checkpointed.log_start_offset)
    else:
        _check_index_files(opening, found)
    opening.epochs = _load_epochs(opening)
    return opening


def _check_index_files(opening: _Opening, found: list[OffsetFile]) -> None:
    """Rebuilds indexes that are missing or of an impossible size."""
    names = {(file.offset, file.suffix) for file in found}
    disk = opening.files.disk
    for segment in opening.segments:
        for suffix, entry_bytes in _INDEX_ENTRY_BYTES.items():
            path = segment.path(suffix)
            is_there = (segment.base_offset, suffix) in names
            if not is_there or disk.status(path).size_bytes % entry_bytes:
                opening.rebuilt.append(path)
                create_missing_indexes(opening.files, segment)
                _rebuild_indexes(segment, opening.config.index_interval_bytes)
                break


def _rebuild_indexes(segment: Segment, index_interval_bytes: int) -> None:
    # Where records are damaged too, recovery finds out, or the reader that meets them.
    with suppress(MalformedError):
        segment.rebuild_indexes(index_interval_bytes)


def _load_epochs(opening: _Opening) -> LeaderEpochs:
    path = f"{opening.segments.directory}/{LEADER_EPOCH_CHECKPOINT}"
    try:
        return LeaderEpochs(read_epochs(opening.files.disk, path))
    except (CorruptFileError, ValueError):
        opening.rebuilt.append(path)
    epochs = LeaderEpochs()
    for segment in opening.segments:
        try:
            for _, header in scan_headers(segment.file, 0, segment.size_bytes):
                if header.leader_epoch >= 0 and header.leader_epoch != epochs.latest_epoch:
                    epochs.assign(header.leader_epoch, header.base_offset)
        except MalformedError:
            continue
    epochs.is_dirty = True
    return epochs


def _open_clean(opening: _Opening) -> ProducerState | None:
    """The state at the end of the log; None if it needs recovery after all."""
    try:
        end_offset = opening.segments.active.find_next_offset()
        return rebuild_producers(opening.segments, opening.snapshots, end_offset)
    except MalformedError:
        return None


def _open_unclean(opening: _Opening, recovery_point: int) -> ProducerState:
    try:
        producers = _recover(opening, recovery_point)
    except MalformedError:  # met on the way to the recovery point: nothing is believed
        recovery_point = 0
        producers = _recover(opening, recovery_point)
    _sync(opening, recovery_point)
    return producers


def _sync(opening: _Opening, recovery_point: int) -> None:
    """Makes the result of a recovery durable, so that the next one cannot meet what was cut."""
    segments = opening.segments
    files = unflushed_files(segments, opening.snapshots, recovery_point - 1)
    whole = Unflushed(tuple(files), segments.directory, 0, epochs=opening.epochs.entries)
    whole.sync(opening.files.disk)
    opening.epochs.is_dirty = False


def _recover(opening: _Opening, recovery_point: int) -> ProducerState:
    """Recovers the segments from the recovery point on; returns the state at the log's end."""
    segments, files = opening.segments, opening.files
    first = segments.floor_index(recovery_point - 1)
    if create_missing_indexes(files, segments[first]):
        opening.rebuilt.append(segments[first].path(OFFSET_INDEX_SUFFIX))
    start, start_offset = find_trusted_start(segments[first], recovery_point)
    opening.snapshots.remove_after(start_offset)
    producers = rebuild_producers(segments, opening.snapshots, start_offset)
    opening.epochs.truncate_from_end(start_offset)
    replay = BatchReplay(opening.epochs, producers)
    for index in range(first, len(segments)):
        if index > first:
            if _is_hole(opening, segments[index], producers.end_offset):
                _set_aside_from(opening, index, _HOLE)
                break
            start = 0
            _prepare_next(opening, segments[index], producers)
        damage = recover_segment(
            files,
            segments[index],
            start,
            replay,
            index_interval_bytes=opening.config.index_interval_bytes,
            has_gaps=opening.has_gaps,
        )
        if damage is not None:
            opening.damages.append(damage)
            _set_aside_from(opening, index + 1, _HOLE)
            break
    return producers


def _is_hole(opening: _Opening, segment: Segment, end_offset: int) -> bool:
    """Whether records are missing before `segment`, which no crash but a power loss explains.

    Compaction may take the last records of a segment, and then nobody can tell.
    """
    return segment.base_offset != end_offset and not opening.has_gaps


def _prepare_next(opening: _Opening, segment: Segment, producers: ProducerState) -> None:
    create_missing_indexes(opening.files, segment)
    segment.reset_indexes()
    producers.end_offset = segment.base_offset
    opening.snapshots.write(producers)


def _set_aside_from(opening: _Opening, index: int, reason: str) -> None:
    segments = opening.segments
    later = list(segments)[index:]
    for segment in reversed(later):
        opening.damages.append(set_aside(opening.files, segment, reason))
    kept = list(segments)[:index]
    opening.segments = Segments(opening.files, segments.directory, kept)


def _start_anew_if_ended(opening: _Opening, producers: ProducerState) -> ProducerState:
    """A log that ends before its start goes on empty there.

    It has lost its last segments; or its start is wrong, which nothing guards: so no record goes.
    """
    if producers.end_offset >= opening.log_start_offset:
        return producers
    if opening.segments.size_bytes:
        reason = f"the log ends at {producers.end_offset}, its start is {opening.log_start_offset}"
        _set_aside_from(opening, 0, reason)
    else:
        opening.segments.remove_after(-1)
    opening.segments.create(opening.log_start_offset)
    opening.snapshots.remove_after(-1)
    opening.epochs.clear()
    opening.files.disk.sync_directory(opening.segments.directory)
    return ProducerState(end_offset=opening.log_start_offset)


def _make_log(opening: _Opening, producers: ProducerState, rng: random.Random) -> Log:
    segments, epochs = opening.segments, opening.epochs
    end_offset = producers.end_offset
    log_start_offset = max(opening.log_start_offset, segments[0].base_offset)
    epochs.truncate_from_end(end_offset)
    epochs.truncate_from_start(log_start_offset)
    bases = {segment.base_offset for segment in segments}
    for offset in opening.snapshots.offsets[:-1]:
        if offset not in bases:
            opening.snapshots.remove(offset)
    opening.snapshots.remove_after(end_offset)
    state = LogState(
        segments=segments,
        epochs=epochs,
        snapshots=opening.snapshots,
        producers=producers,
        log_start_offset=log_start_offset,
        log_end_offset=end_offset,
        recovery_point=end_offset,
    )
    return Log(state, opening.config, rng)
