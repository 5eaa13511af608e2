"""What a replica must not forget about an epoch: its leader and its own vote. Written durably
before anything that follows from it is sent.

Invariant: within an epoch neither changes once it is known, and epochs only rise.
Not here: the quorum-state file.
"""

from typing import NamedTuple

from snakka.quorum.voters import ReplicaKey


class ElectionState(NamedTuple):
    epoch: int = 0
    leader_id: int | None = None
    voted: ReplicaKey | None = None

    def follows(self, earlier: "ElectionState") -> bool:
        """Whether this may come after `earlier` in one replica's life."""
        if self.epoch != earlier.epoch:
            return self.epoch > earlier.epoch
        return earlier.leader_id in (None, self.leader_id) and earlier.voted in (None, self.voted)
