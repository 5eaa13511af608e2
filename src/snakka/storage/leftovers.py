"""What a stopped broker may have left in a partition's directory, put in order before opening.

Deletions under way are finished. Segments that compaction had cleaned are dropped while they are
`.cleaned`, and take their place once they are `.swap`: then everything is in them. (A `.swap` that
is not below every `.cleaned` belongs to a split that had not come so far, and is dropped too.)
"""

from snakka.storage.names import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SEGMENT_SUFFIXES,
    SWAP_SUFFIX,
    TEMPORARY_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    OffsetFile,
    find_offset_file,
    offset_file_name,
)
from snakka.storage.open_files import OpenFiles
from snakka.storage.scan import scan_headers

_INDEX_SUFFIXES = (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX)


def clear_leftovers(files: OpenFiles, directory: str) -> list[OffsetFile]:
    """Leaves files without suffixes of passage only, and returns them."""
    disk = files.disk
    names = disk.names(directory)
    found = {name: file for name in names if (file := find_offset_file(name)) is not None}
    cleaned_from = min(
        (file.offset for file in found.values() if file.state == CLEANED_SUFFIX), default=None
    )
    swaps = []
    for name, file in found.items():
        is_early = cleaned_from is not None and file.offset >= cleaned_from
        if file.state == SWAP_SUFFIX and not is_early:
            swaps.append(file)
        elif file.state in (CLEANED_SUFFIX, DELETED_SUFFIX, SWAP_SUFFIX):
            disk.remove(f"{directory}/{name}")
    for name in names:
        if name.endswith(TEMPORARY_SUFFIX):
            disk.remove(f"{directory}/{name}")
    current = [file for file in found.values() if not file.state]
    if swaps:
        current = _complete_swap(files, directory, current, swaps)
    return _without_orphans(files, directory, current)


def _complete_swap(
    files: OpenFiles, directory: str, current: list[OffsetFile], swaps: list[OffsetFile]
) -> list[OffsetFile]:
    logs = [file for file in swaps if file.suffix == LOG_SUFFIX]
    start = min((file.offset for file in logs), default=0)
    end = max((_end_offset(files, directory, file) for file in logs), default=0)
    kept = []
    for file in current:
        if file.suffix in SEGMENT_SUFFIXES and start <= file.offset < end:
            files.disk.remove(_path(directory, file))
        else:
            kept.append(file)
    for file in swaps:
        target = file._replace(state="")
        files.disk.rename(_path(directory, file), _path(directory, target))
        if target not in kept:
            kept.append(target)
    return kept


def _end_offset(files: OpenFiles, directory: str, swap: OffsetFile) -> int:
    file = files.disk.open(_path(directory, swap))
    end_offset = swap.offset + 1  # an empty one takes at least the place of its namesake
    for _, header in scan_headers(file, 0, file.size()):
        end_offset = header.next_offset
    return end_offset


def _without_orphans(
    files: OpenFiles, directory: str, current: list[OffsetFile]
) -> list[OffsetFile]:
    """Indexes go where their records are gone."""
    bases = {file.offset for file in current if file.suffix == LOG_SUFFIX}
    kept = []
    for file in current:
        if file.suffix in _INDEX_SUFFIXES and file.offset not in bases:
            files.disk.remove(_path(directory, file))
        else:
            kept.append(file)
    return kept


def _path(directory: str, file: OffsetFile) -> str:
    return f"{directory}/{offset_file_name(*file)}"
