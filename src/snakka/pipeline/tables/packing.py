"""Which small files are put together: bins of about one size, each within one partition. Pure.

Not here: reading and writing them (files.py, writing.py).
"""

from collections.abc import Hashable, Iterable
from typing import Final, NamedTuple

# A file that is nearly as large as wanted stays, or each compaction would write it anew.
_LARGE_ENOUGH: Final = 0.75


class Sized(NamedTuple):
    """A file of a table."""

    path: str  # absolute
    partition: Hashable
    size_bytes: int
    row_count: int | None  # not known of a file that somebody else wrote without statistics


def pack(files: Iterable[Sized], target_bytes: int) -> list[list[Sized]]:
    """Bins of at least two files that are not larger together than wanted.

    Where the rows cannot be counted, before and after, a file is left alone.
    """
    by_partition: dict[Hashable, list[Sized]] = {}
    for each in files:
        is_small = each.size_bytes < target_bytes * _LARGE_ENOUGH
        if is_small and each.row_count is not None:
            by_partition.setdefault(each.partition, []).append(each)
    bins = [packed for small in by_partition.values() for packed in _pack_one(small, target_bytes)]
    return [each for each in bins if len(each) > 1]


def _pack_one(files: list[Sized], target_bytes: int) -> list[list[Sized]]:
    """The largest first, each into the first bin that has room for it."""
    bins: list[list[Sized]] = []
    left: list[int] = []
    for each in sorted(files, key=lambda file: (-file.size_bytes, file.path)):
        fitting = (at for at, room in enumerate(left) if room >= each.size_bytes)
        at = next(fitting, None)
        if at is None:
            bins.append([each])
            left.append(target_bytes - each.size_bytes)
        else:
            bins[at].append(each)
            left[at] -= each.size_bytes
    return bins
