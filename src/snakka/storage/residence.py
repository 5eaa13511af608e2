"""Which of the directories found for a partition is its log, and what becomes of the others. Pure.

Several are found after a crash in the midst of a move, when a failed disk comes back, and when a
topic was deleted, or made anew, while a directory was away. A copy (`-future`) is only ever removed
for good where the log it was copied from is there; what nobody can vouch for is set aside.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from snakka.protocol.types import Uuid


class Fate(Enum):
    SERVE = auto()  # this is the partition's log
    RESUME = auto()  # a move that goes on
    PROMOTE = auto()  # a future log that becomes the partition's own
    DELETE = auto()
    SET_ASIDE = auto()  # kept as a `-stray` directory
    LEAVE = auto()  # nobody knows yet


class Found(NamedTuple):
    """One directory of a partition, and how far the log in it goes."""

    path: str  # of the log directory
    is_future: bool
    topic_id: Uuid | None
    latest_epoch: int
    log_end_offset: int

    @property
    def extent(self) -> tuple[int, int]:
        """Of copies of one log, the one with the larger extent has all that the other has."""
        return self.latest_epoch, self.log_end_offset


class Residence(NamedTuple):
    """What the metadata says of a partition of this broker: `path` is None where it says nothing
    of the directory, or names one that is not here."""

    topic_id: Uuid
    path: str | None


def decide_fates(
    found: Sequence[Found], residence: Residence | None, *, are_all_online: bool
) -> list[Fate]:
    """One fate for each of `found`, all of one partition; no residence means it is not to be here.

    `are_all_online` says that no directory of the broker is missing.
    """
    ours = [each for each in found if residence is not None and each.topic_id == residence.topic_id]
    current = max((each for each in ours if not each.is_future), key=_extent, default=None)
    future = _find_future(ours, current, residence)
    fates = []
    for each in found:
        if each not in ours:
            fates.append(Fate.DELETE if each.is_future else Fate.SET_ASIDE)
        elif each.is_future:
            fates.append(_fate_of_copy(each, current, future, residence, are_all_online))
        elif each is not current:
            fates.append(Fate.SET_ASIDE)
        elif future is not None and _is_ahead(future, each, residence):
            fates.append(Fate.DELETE)
        else:
            fates.append(Fate.SERVE)
    return fates


def _extent(found: Found) -> tuple[int, int]:
    return found.extent


def _find_future(
    ours: Sequence[Found], current: Found | None, residence: Residence | None
) -> Found | None:
    """The copy that counts: the one where the controller expects the partition, or the longest."""
    copies = [
        each for each in ours if each.is_future and (current is None or each.path != current.path)
    ]
    expected = None if residence is None else residence.path
    return max(copies, key=lambda each: (each.path == expected, each.extent), default=None)


def _fate_of_copy(
    copy: Found,
    current: Found | None,
    future: Found | None,
    residence: Residence | None,
    are_all_online: bool,
) -> Fate:
    if current is None:
        # A crash of the directory with the current log, after the controller was told of the move.
        if copy is future and residence is not None and copy.path == residence.path:
            return Fate.PROMOTE
        return Fate.SET_ASIDE if are_all_online else Fate.LEAVE
    if copy is not future:
        return Fate.DELETE
    return Fate.PROMOTE if _is_ahead(copy, current, residence) else Fate.RESUME


def _is_ahead(future: Found, current: Found, residence: Residence | None) -> bool:
    """Whether a crash came after the swap, before the new name was durable."""
    is_expected = residence is not None and future.path == residence.path
    return is_expected and future.extent > current.extent
