"""What the leader of a partition decides: whom it serves, and how far records are replicated. Pure.

A record is committed once every replica in sync has it; the high watermark is the end of what is
committed, and never moves back under one leader. A partition with one replica is the simplest case
of this and no other one.

Not here: the log (storage), changes of the in-sync replicas (they are the controller's to make).
"""

from dataclasses import dataclass
from typing import Final

from snakka.replication.errors import (
    FencedLeaderEpochError,
    NotEnoughReplicasError,
    NotLeaderError,
    UnknownLeaderEpochError,
)

NO_LEADER_EPOCH: Final = -1


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the metadata log says of a partition."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class Partition:
    """One partition as one of its replicas sees it."""

    def __init__(self, node_id: int, assignment: Assignment) -> None:
        self._node_id = node_id
        self.assignment = assignment
        self._ends: dict[int, int] = {}  # of the followers' logs, as far as they have fetched

    @property
    def is_leader(self) -> bool:
        return self.assignment.leader == self._node_id

    def assign(self, assignment: Assignment) -> bool:
        """Follows the metadata log; says whether another leader epoch has begun."""
        is_new_epoch = assignment.leader_epoch > self.assignment.leader_epoch
        self.assignment = assignment
        if is_new_epoch:
            self._ends.clear()
        return is_new_epoch

    def check_epoch(self, current_leader_epoch: int) -> None:
        """Raises where the client's view of the leader is another one (KIP-320)."""
        if current_leader_epoch == NO_LEADER_EPOCH:
            return
        known = self.assignment.leader_epoch
        if current_leader_epoch < known:
            raise FencedLeaderEpochError(f"leader epoch {current_leader_epoch} is before {known}")
        if current_leader_epoch > known:
            raise UnknownLeaderEpochError(f"leader epoch {current_leader_epoch} is after {known}")

    def check_leader(self, current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
        """Raises where this broker does not lead the partition in that epoch."""
        self.check_epoch(current_leader_epoch)
        if not self.is_leader:
            raise NotLeaderError(f"broker {self.assignment.leader} leads the partition")

    def check_in_sync(self, min_insync_replicas: int) -> None:
        """Raises where too few replicas are in sync for acks=all; all of them are always enough."""
        in_sync = len(self.assignment.isr)
        if in_sync < min(min_insync_replicas, len(self.assignment.replicas)):
            raise NotEnoughReplicasError(
                f"{in_sync} replicas are in sync, min.insync.replicas={min_insync_replicas}"
            )

    def on_follower_fetch(self, replica_id: int, fetch_offset: int) -> None:
        """A follower has everything before the offset that it asks for."""
        self._ends[replica_id] = fetch_offset

    def high_watermark(self, log_end_offset: int) -> int:
        """The offset up to which all replicas in sync have the leader's log."""
        least = log_end_offset
        for each in self.assignment.isr:
            if each != self._node_id:
                least = min(least, self._ends.get(each, 0))
        return least
