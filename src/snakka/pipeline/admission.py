"""How far a micro-batch may go, by rows and by bytes. Pure.

Only what becomes a row counts: control records, aborted transactions and what compaction removed do
not. What that is shows in the headers of the batches, so the driver walks over them where more is
there than a limit lets in. It walks a bounded number of bytes; from there on each offset counts as
one row, which is never too few, and bytes go by the average of what was seen.

Not here: the walk itself (broker.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from snakka.protocol.records.batch import BatchHeader

_K = TypeVar("_K")

UNLIMITED: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Limits:
    rows_max: int = UNLIMITED
    bytes_max: int = UNLIMITED


NO_LIMITS: Final = Limits()


def share_out(limit: int, wanted: Mapping[_K, int]) -> dict[_K, int]:
    """`limit` in proportion to what is wanted: all of it, unless less is wanted."""
    total = sum(wanted.values())
    if total <= limit:
        return dict(wanted)
    shares = {key: limit * each // total for key, each in wanted.items()}
    left = limit - sum(shares.values())
    by_remainder = sorted(wanted, key=lambda key: limit * wanted[key] % total, reverse=True)
    for key in by_remainder[:left]:
        shares[key] += 1
    return shares


class Walk:
    """The headers of one partition in a row, from `start`, until a limit is reached."""

    def __init__(self, start: int, limits: Limits) -> None:
        self.position = start
        self.walked_bytes = 0
        self._start = start
        self._limits = limits
        self._rows = 0
        self._bytes = 0

    def pass_over(self, header: BatchHeader) -> None:
        """A batch that gives no rows."""
        self.walked_bytes += header.size_bytes
        self.position = max(self.position, header.next_offset)

    def take(self, header: BatchHeader) -> bool:
        """Takes a batch that gives rows, as far as the limits go, and says whether all of it fit.

        The first one always fits in bytes.
        """
        self.walked_bytes += header.size_bytes
        offsets = header.next_offset - self.position
        rows = min(header.record_count, offsets)
        room = self._limits.rows_max - self._rows
        is_first = not self._bytes
        if self._bytes + header.size_bytes > self._limits.bytes_max and not is_first:
            return False
        if rows > room:
            self._rows += room
            self.position += room  # an offset holds at most one row
            return False
        self._rows += rows
        self._bytes += header.size_bytes
        self.position = header.next_offset
        return True

    def guess_rest(self, end: int) -> int:
        """Where the limits would be reached, going by what was seen so far."""
        room = self._limits.rows_max - self._rows
        if self._limits.bytes_max < UNLIMITED and self._bytes:
            offsets = self.position - self._start
            room = min(room, (self._limits.bytes_max - self._bytes) * offsets // self._bytes)
        return min(end, self.position + max(0, room))
