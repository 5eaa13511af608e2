"""How far the leader knows the replicas to be: what the high watermark is computed from. Pure.

A follower's fetch offset says that all before it is durable there, for a follower syncs before it
fetches on. The leader's own end counts once it is synced, like any other. Voters count towards the
high watermark, observers do not.

Not here: what a fetch is answered with (serving.py).
"""

from dataclasses import dataclass, field
from typing import Final

from snakka.quorum.majority import replicated_offset
from snakka.quorum.voters import ReplicaKey, VoterSet

UNKNOWN: Final = -1


@dataclass(slots=True)
class Progress:
    """One replica, as its fetches show it (KIP-836)."""

    key: ReplicaKey
    end_offset: int = UNKNOWN
    last_fetch_ms: int = UNKNOWN
    last_caught_up_ms: int = UNKNOWN
    leader_end_at_fetch: int = UNKNOWN

    def fetched(self, offset: int, leader_end: int, now_ms: int) -> None:
        if offset >= leader_end:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif 0 < self.leader_end_at_fetch <= offset:
            # It has now all that there was when it fetched before: it was caught up back then.
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.leader_end_at_fetch = leader_end
        self.last_fetch_ms = max(self.last_fetch_ms, now_ms)
        self.end_offset = offset


def _find(known: dict[ReplicaKey, Progress], key: ReplicaKey) -> Progress | None:
    """That replica's, which may have been known by its id alone."""
    found = known.get(key) or known.get(ReplicaKey(key.id))
    if found is not None:
        found.key = key
    return found


@dataclass(slots=True)
class Replicas:
    """The voters, and the observers that fetch."""

    voters: dict[ReplicaKey, Progress] = field(default_factory=dict)
    observers: dict[ReplicaKey, Progress] = field(default_factory=dict)

    def find_voter(self, key: ReplicaKey) -> Progress | None:
        """A voter's progress; one whose directory is not known goes by its id."""
        return self.voters.get(key) or self.voters.get(ReplicaKey(key.id))

    def follow(self, voters: VoterSet) -> None:
        """Goes by another set of voters. What is known of a replica stays known."""
        known = {**self.observers, **self.voters}
        before = self.voters
        self.voters = {key: _find(known, key) or Progress(key) for key in sorted(voters.keys)}
        gone = {p.key: p for p in before.values() if p.key not in self.voters}
        left = {k: v for k, v in self.observers.items() if k not in self.voters}
        self.observers = {**left, **gone}

    def observe(self, key: ReplicaKey, *, limit: int) -> Progress | None:
        """An observer's progress; None if there are too many to keep another."""
        if key not in self.observers:
            if len(self.observers) >= limit:
                return None
            self.observers[key] = Progress(key)
        return self.observers[key]

    def forget_observers(self, before_ms: int) -> None:
        for key, progress in list(self.observers.items()):
            if progress.last_fetch_ms < before_ms:
                del self.observers[key]

    def replicated_offset(self) -> int:
        """What a majority of the voters has, as far as is known."""
        return replicated_offset([progress.end_offset for progress in self.voters.values()])

    def by_descending_offset(self) -> list[ReplicaKey]:
        ordered = sorted(self.voters.values(), key=lambda each: (-each.end_offset, each.key))
        return [progress.key for progress in ordered]
