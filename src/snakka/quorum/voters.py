"""Who votes: replicas by id and log directory, their endpoints, and sets of them (KIP-853).

A voter set is a value; changing it makes another that differs by at most one voter, so that their
majorities overlap. With kraft.version 0 voters come from the configuration and have no directory
ids: any directory of that id is the voter.

Not here: which set holds at which offset (voter_history.py), counting (majority.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from snakka.protocol.types import ZERO_UUID, Uuid, format_uuid


class ReplicaKey(NamedTuple):
    """A replica: a node's id and the log directory it keeps the metadata log in."""

    id: int
    directory_id: Uuid = ZERO_UUID

    def __str__(self) -> str:
        if self.directory_id == ZERO_UUID:
            return str(self.id)
        return f"{self.id}-{format_uuid(self.directory_id)}"


class Endpoint(NamedTuple):
    """Where a replica listens, and under which listener's name."""

    name: str
    host: str
    port: int


class VersionRange(NamedTuple):
    """The levels of kraft.version that a replica supports."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last


STATIC_VERSIONS: Final = VersionRange(0, 0)
SUPPORTED_VERSIONS: Final = VersionRange(0, 1)


@dataclass(frozen=True, slots=True)
class Voter:
    key: ReplicaKey
    endpoints: tuple[Endpoint, ...] = ()
    kraft_versions: VersionRange = STATIC_VERSIONS

    def is_replica(self, key: ReplicaKey) -> bool:
        """Whether that replica is this voter; one without a directory id is any of its id."""
        if self.key.directory_id == ZERO_UUID:
            return self.key.id == key.id
        return self.key == key

    def find_endpoint(self, listener_name: str) -> Endpoint | None:
        return next((each for each in self.endpoints if each.name == listener_name), None)


@dataclass(frozen=True, slots=True)
class VoterSet:
    """Voters in the order of their ids, which are unique."""

    voters: tuple[Voter, ...] = ()

    @classmethod
    def of(cls, voters: Iterable[Voter]) -> "VoterSet":
        ordered = tuple(sorted(voters, key=lambda voter: voter.key))
        if len({voter.key.id for voter in ordered}) != len(ordered):
            raise ValueError(f"two voters of one id among {[str(each.key) for each in ordered]}")
        return cls(ordered)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(voter.key.id for voter in self.voters)

    @property
    def keys(self) -> frozenset[ReplicaKey]:
        return frozenset(voter.key for voter in self.voters)

    def find(self, replica_id: int) -> Voter | None:
        return next((voter for voter in self.voters if voter.key.id == replica_id), None)

    def has_voter(self, key: ReplicaKey) -> bool:
        voter = self.find(key.id)
        return voter is not None and voter.is_replica(key)

    def is_only_voter(self, key: ReplicaKey) -> bool:
        return len(self.voters) == 1 and self.has_voter(key)

    def find_endpoint(self, replica_id: int, listener_name: str) -> Endpoint | None:
        voter = self.find(replica_id)
        return None if voter is None else voter.find_endpoint(listener_name)

    def with_voter(self, voter: Voter) -> "VoterSet | None":
        """This set and one more; None where the id votes already, from whatever directory."""
        return None if self.find(voter.key.id) else VoterSet.of((*self.voters, voter))

    def without_voter(self, key: ReplicaKey) -> "VoterSet | None":
        """This set and one less; None where there is no such voter, or no other one."""
        voter = self.find(key.id)
        if voter is None or voter.key != key or len(self.voters) == 1:
            return None
        return VoterSet(tuple(each for each in self.voters if each is not voter))

    def with_updated(self, voter: Voter) -> "VoterSet | None":
        """This set with other endpoints or versions of one voter; None where it does not vote."""
        if not self.has_voter(voter.key):
            return None
        return VoterSet.of(voter if each.key.id == voter.key.id else each for each in self.voters)

    def has_overlapping_majority(self, other: "VoterSet") -> bool:
        """Whether the sets differ by one voter at the most, so that their majorities meet."""
        return len(self.keys - other.keys) <= 1 and len(other.keys - self.keys) <= 1

    def __str__(self) -> str:
        return "{" + ", ".join(str(voter.key) for voter in self.voters) + "}"


NO_VOTERS: Final = VoterSet()
