"""What the quorum needs from a disk: a log and snapshots, as ports.

Nothing here has to be durable when it returns, except `Snapshots.complete`. The driver syncs the
log when a `Ready` asks for it and reports back, so that a sync can run in a thread. After a crash
a log is what was last synced and a prefix of what was done to it since.
"""

from typing import NamedTuple, Protocol

from snakka.protocol.types import Buffer


class OffsetAndEpoch(NamedTuple):
    """The end of a log or of a part of it: the next offset, and the epoch of the record before."""

    offset: int
    epoch: int

    def is_up_to_date_with(self, other: "OffsetAndEpoch") -> bool:
        """Whether a log that ends here holds all that one with the other end may have committed."""
        return (self.epoch, self.offset) >= (other.epoch, other.offset)

    def __str__(self) -> str:
        return f"{self.offset}@{self.epoch}"


BOOTSTRAP_SNAPSHOT = OffsetAndEpoch(0, 0)  # what formatted this node; never sent to another one


class QuorumLog(Protocol):
    """The metadata log of one replica."""

    @property
    def start_offset(self) -> int: ...

    @property
    def starts_after(self) -> OffsetAndEpoch:
        """The snapshot of all that was before it; 0@0 if there was nothing."""

    @property
    def end(self) -> OffsetAndEpoch:
        """Of an empty log, the snapshot that it starts after; 0@0 if there is none."""

    def epoch_end(self, epoch: int) -> OffsetAndEpoch:
        """The largest epoch of this log up to `epoch`, and where it ends.

        Where all its records are of later epochs: the snapshot that it starts after, or 0@0.
        """

    def append(self, batches: Buffer) -> None:
        """Batches with offsets and epochs, which follow the end."""

    def truncate(self, end_offset: int) -> None: ...

    def read(self, offset: int, max_bytes: int) -> Buffer:
        """Whole batches from the one at `offset` on; one at least, however large."""

    def restart_after(self, snapshot_id: OffsetAndEpoch) -> None:
        """Drops everything, to go on where the snapshot ends."""

    def advance_start(self, snapshot_id: OffsetAndEpoch) -> None:
        """Drops what the snapshot covers, and older snapshots."""


class Snapshots(Protocol):
    """The snapshots of one replica, by the end of what each covers (KIP-630)."""

    def latest(self) -> OffsetAndEpoch | None: ...

    def find_size_bytes(self, snapshot_id: OffsetAndEpoch) -> int | None: ...

    def read(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> Buffer: ...

    def write(self, snapshot_id: OffsetAndEpoch, position: int, data: Buffer) -> None:
        """Part of one that is being fetched; position 0 begins it anew."""

    def complete(self, snapshot_id: OffsetAndEpoch) -> None:
        """Makes what was written durable and the latest snapshot."""
