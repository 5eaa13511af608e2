"""One replica's view of the quorum: what all roles share, and the few ways to change it.

Hard, as it is on disk: `election`, the log with the voter history read from it, the snapshots.
Soft: the role, the high watermark, how much of the log is synced, requests under way.

Invariants: the high watermark never falls, and neither does a leader's log or a committed one.
Not here: changing the role (transitions.py), what each role does (roles/), messages.
"""

import random
from dataclasses import dataclass, field
from typing import Final

from snakka.protocol.internal.kraft import KRaftVersionRecord, VotersRecord
from snakka.protocol.schema import Request, Response
from snakka.protocol.types import Buffer
from snakka.quorum.config import QuorumConfig
from snakka.quorum.control_records import (
    end_of,
    first_batch,
    read_control_records,
    read_voters_record,
)
from snakka.quorum.election_state import ElectionState
from snakka.quorum.peers import Node, Peers
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch, QuorumLog, Snapshots
from snakka.quorum.ready import Flush, Inbound, Outbound, Ready, Reply
from snakka.quorum.role import Leader, Role, Unattached
from snakka.quorum.voter_history import VoterHistory
from snakka.quorum.voters import (
    NO_VOTERS,
    SUPPORTED_VERSIONS,
    Endpoint,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)

_READ_BYTES: Final = 1024 * 1024


class CommittedDataLossError(Exception):
    """Going on would take back what is committed: the node must stop, and a human look."""


@dataclass(frozen=True, slots=True)
class LocalReplica:
    """Who this replica is, and how it finds the others at first."""

    cluster_id: str
    key: ReplicaKey
    listener_name: str
    endpoints: tuple[Endpoint, ...] = ()
    kraft_versions: VersionRange = SUPPORTED_VERSIONS
    bootstrap_servers: tuple[Node, ...] = ()
    static_voters: VoterSet = NO_VOTERS
    is_controller: bool = True  # whether it may ever vote

    @property
    def voter(self) -> Voter:
        """This replica as a voters record describes it."""
        return Voter(self.key, self.endpoints, self.kraft_versions)


@dataclass(slots=True)
class Quorum:
    local: LocalReplica
    config: QuorumConfig
    log: QuorumLog
    snapshots: Snapshots
    rng: random.Random
    election: ElectionState
    history: VoterHistory = field(init=False)
    role: Role = field(init=False)
    high_watermark: int | None = None
    peers: Peers = field(default_factory=Peers)
    is_shutting_down: bool = False
    _synced_offset: int = 0
    _truncations: int = 0
    _flushing: Flush | None = None
    _written: ElectionState | None = None
    _requests: list[Outbound] = field(default_factory=list)
    _replies: list[Reply] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.role = Unattached(election_deadline_ms=0)
        self.history = VoterHistory(self.local.static_voters)
        latest = self.snapshots.latest()
        # A crash may have come between the end of a snapshot's download and the new log.
        if latest is not None and not self._has_in_log(latest):
            self.log.restart_after(latest)
        self._load_history()
        if latest is not None and latest != BOOTSTRAP_SNAPSHOT:
            self.high_watermark = latest.offset
        # What was recovered may be in the page cache only.
        self._synced_offset = self.log.start_offset
        self._written = self.election

    # Who leads, who votes, and how far it all is.

    @property
    def epoch(self) -> int:
        return self.election.epoch

    @property
    def leader_id(self) -> int | None:
        return self.election.leader_id

    @property
    def voters(self) -> VoterSet:
        return self.history.voters

    @property
    def is_voter(self) -> bool:
        return self.voters.has_voter(self.local.key)

    @property
    def may_stand(self) -> bool:
        """Whether it may be elected: as a voter, or as one whose removal may not be committed.

        The latter may be the only one that can commit it: with two voters, the other one lacks
        the record and so cannot win, and this one must lead once more (Raft thesis, 4.2.2).
        """
        entry = self.history.find_last_entry()
        if self.is_voter or entry is None:
            return self.is_voter
        previous = self.history.find_previous_voters()
        was_voter = previous is not None and previous.has_voter(self.local.key)
        return was_voter and not self.is_committed(entry.offset)

    @property
    def synced_offset(self) -> int:
        """The end of what a crash cannot take away."""
        return self._synced_offset

    @property
    def is_synced(self) -> bool:
        """Whether it may fetch: a fetch offset promises that all before it is durable."""
        return self.synced_offset >= self.log.end.offset

    def is_committed(self, offset: int) -> bool:
        return self.high_watermark is not None and offset < self.high_watermark

    def advance_high_watermark(self, offset: int) -> None:
        if self.high_watermark is None or offset > self.high_watermark:
            self.high_watermark = offset

    # The log.

    def append(self, batches: Buffer) -> None:
        self.log.append(batches)
        self._read_history(batches)

    def truncate(self, end_offset: int) -> None:
        if isinstance(self.role, Leader):
            raise CommittedDataLossError(f"the leader of epoch {self.epoch} truncates its own log")
        committed = max(self.high_watermark or 0, self.log.start_offset)
        if end_offset < committed:
            raise CommittedDataLossError(
                f"truncation to {end_offset}, but {committed} is committed"
            )
        self.log.truncate(end_offset)
        self.history.truncate_from_end(end_offset)
        self._log_was_cut()

    def restart_after(self, snapshot_id: OffsetAndEpoch) -> None:
        """Goes on after a snapshot that came from the leader, without what the log held."""
        self.log.restart_after(snapshot_id)
        self._load_history()
        self._log_was_cut()
        self._synced_offset = snapshot_id.offset
        self.advance_high_watermark(snapshot_id.offset)

    def advance_log_start(self, snapshot_id: OffsetAndEpoch) -> None:
        self.log.advance_start(snapshot_id)
        self.history.truncate_from_start(snapshot_id.offset)

    def was_flushed(self, flush: Flush) -> None:
        if flush.truncations == self._truncations:
            self._synced_offset = max(self._synced_offset, flush.end_offset)
        if flush == self._flushing:
            self._flushing = None

    def _log_was_cut(self) -> None:
        self._truncations += 1
        self._synced_offset = min(self._synced_offset, self.log.end.offset)

    def _has_in_log(self, snapshot_id: OffsetAndEpoch) -> bool:
        ours = self.log.epoch_end(snapshot_id.epoch)
        return ours.epoch == snapshot_id.epoch and ours.offset >= snapshot_id.offset

    def _load_history(self) -> None:
        self.history.clear()
        latest = self.snapshots.latest()
        if latest is not None:
            self._read_snapshot_history(latest)
        offset = self.log.start_offset if latest is None else latest.offset
        while offset < self.log.end.offset:
            data = self.log.read(offset, _READ_BYTES)
            self._read_history(data)
            offset = end_of(data)

    def _read_snapshot_history(self, snapshot_id: OffsetAndEpoch) -> None:
        """Voters and version are in a snapshot's first batch, after its header."""
        head = first_batch(self.snapshots.read(snapshot_id, 0, _READ_BYTES))
        for _, message in read_control_records(head):
            self._add_history(snapshot_id.offset - 1, message)

    def _read_history(self, data: Buffer) -> None:
        for offset, message in read_control_records(data):
            self._add_history(offset, message)

    def _add_history(self, offset: int, message: object) -> None:
        match message:
            case VotersRecord():
                self.history.add_voters(offset, read_voters_record(message))
            case KRaftVersionRecord():
                self.history.add_kraft_version(offset, message.kraft_version)

    # What is to be done outside.

    def send(self, node: Node, message: Request, now_ms: int) -> None:
        deadline_ms = now_ms + self.config.request_timeout_ms
        correlation_id = self.peers.start(node, message, deadline_ms)
        self._requests.append(Outbound(node, correlation_id, message))

    def reply(self, inbound: Inbound, message: Response) -> None:
        self._replies.append(Reply(inbound.token, message))

    def drop_requests(self) -> None:
        """Takes back what is not sent yet and forgets what is."""
        self._requests.clear()
        self.peers.forget_all()

    def take_ready(self) -> Ready:
        election = None if self.election == self._written else self.election
        self._written = self.election
        ready = Ready(election, tuple(self._requests), tuple(self._replies), self._next_flush())
        self._requests.clear()
        self._replies.clear()
        return ready

    def _next_flush(self) -> Flush | None:
        """One at a time: what is appended meanwhile waits for the next and shares its cost."""
        flushing = self._flushing
        is_flushing = flushing is not None and flushing.truncations == self._truncations
        if is_flushing or self._synced_offset >= self.log.end.offset:
            return None
        self._flushing = Flush(self.log.end.offset, self._truncations)
        return self._flushing
