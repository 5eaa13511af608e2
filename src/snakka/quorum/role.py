"""The roles a replica can be in, with what each knows besides the election state. All of it soft.

                    +--------------- higher epoch, from any role ---------------+
                    v                                                           |
    start --> Unattached --timeout--> Prospective --pre-votes--> Candidate --votes--> Leader
                    |  ^                |      ^                     |                  |
                 leader+---- lost ------+      +------- backed off --+      check quorum, shutdown,
                 found |                |                                        removed
                    v  |                v                                               v
                  Follower <-- lost, leader known                                    Resigned
                    |
                    +---- fetch timeout ----> Prospective (a voter), Unattached (an observer)

A resigned leader becomes Unattached in the next epoch. An observer, a replica that does not vote,
is Unattached or Follower for ever. Transitions are made in transitions.py only, by this table.
"""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from snakka.protocol.messages.fetch import FetchPartition
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.progress import Replicas
from snakka.quorum.ready import Inbound
from snakka.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet


@dataclass(slots=True)
class Unattached:
    """Knows no leader to fetch from; asks around for one, and waits for an election."""

    election_deadline_ms: int


@dataclass(slots=True)
class Prospective:
    """Asks whether it would be voted for (KIP-996), in its epoch, before it disturbs anybody."""

    voters: VoterSet
    deadline_ms: int
    retries: int
    leader_endpoints: tuple[Endpoint, ...]  # of the leader of this epoch that it has lost
    granting: set[ReplicaKey] = field(default_factory=set)
    rejecting: set[ReplicaKey] = field(default_factory=set)


@dataclass(slots=True)
class Candidate:
    """Asks for votes in an epoch of its own. After a defeat it pauses, and asks no more."""

    voters: VoterSet
    deadline_ms: int
    retries: int
    granting: set[ReplicaKey] = field(default_factory=set)
    rejecting: set[ReplicaKey] = field(default_factory=set)
    backoff_until_ms: int | None = None


@dataclass(slots=True)
class ParkedFetch:
    """A fetch that waits for records or for the high watermark to move."""

    inbound: Inbound
    partition: FetchPartition
    key: ReplicaKey
    deadline_ms: int


@dataclass(slots=True)
class VoterChange:
    """The change of voters under way. An addition waits first for the new voter."""

    inbound: Inbound
    deadline_ms: int
    joining: Voter | None = None  # known once it has said which versions it supports
    offset: int | None = None  # of the voters record, once it is appended


@dataclass(slots=True)
class Leader:
    epoch_start_offset: int
    granting: frozenset[ReplicaKey]
    replicas: Replicas
    check_quorum_deadline_ms: int
    begin_epoch_at_ms: int
    fetched: set[ReplicaKey] = field(default_factory=set)  # since check quorum was last met
    parked: dict[ReplicaKey, ParkedFetch] = field(default_factory=dict)
    change: VoterChange | None = None
    told: dict[int, Voter] = field(default_factory=dict)  # what configured voters say they are


@dataclass(slots=True)
class Download:
    """A snapshot that is being fetched, and how much of it is there."""

    snapshot_id: OffsetAndEpoch
    position: int = 0


@dataclass(slots=True)
class Follower:
    leader_endpoints: tuple[Endpoint, ...]
    fetch_deadline_ms: int
    update_voter_at_ms: int
    has_told: bool = False  # this leader what it is, as a configured voter
    has_fetched: bool = False  # from this leader: it was alive, so nobody else needs to lead
    download: Download | None = None


@dataclass(slots=True)
class Resigned:
    """Leads no more and tells the others, the best successor first."""

    election_deadline_ms: int
    unacknowledged: set[ReplicaKey]
    preferred_successors: tuple[ReplicaKey, ...]


Role: TypeAlias = Unattached | Prospective | Candidate | Leader | Follower | Resigned

TRANSITIONS: Final[dict[type[Role], tuple[type[Role], ...]]] = {
    Unattached: (Unattached, Prospective, Follower),
    Prospective: (Unattached, Candidate, Follower),
    Candidate: (Unattached, Prospective, Leader, Follower),
    Leader: (Unattached, Follower, Resigned),
    Follower: (Unattached, Prospective, Follower),
    Resigned: (Unattached, Follower),
}
