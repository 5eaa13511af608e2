"""A replica of the metadata quorum: events and the time in, a `Ready` out. No I/O, no clock.

A driver feeds it what comes in, and after each event does what `take_ready` says, in its order:
the election state is written durably, then messages go out, then the log is synced and that is
reported. It calls `tick` when `next_deadline_ms` comes. Records are appended by the leader with
`submit` and count once `high_watermark` is above their offset while it still leads; who submitted
them waits for that. What is below the high watermark is applied by whoever wants to.

`now_ms` is expected to rise. Nothing but liveness depends on it.
Not here: the state (quorum.py), the rules (one module each), disks and sockets (the driver).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.add_raft_voter import AddRaftVoterRequest
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from snakka.protocol.messages.describe_quorum import DescribeQuorumRequest
from snakka.protocol.messages.end_quorum_epoch import (
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from snakka.protocol.messages.fetch import FetchRequest, FetchResponse
from snakka.protocol.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from snakka.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from snakka.protocol.messages.update_raft_voter import (
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from snakka.protocol.messages.vote import VoteRequest, VoteResponse
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.protocol.schema import Request, Response
from snakka.quorum.describing import handle_describe
from snakka.quorum.election_state import ElectionState
from snakka.quorum.epochs import (
    handle_begin,
    handle_begin_response,
    handle_end,
    handle_end_response,
)
from snakka.quorum.following import handle_fetch_response
from snakka.quorum.kraft_upgrade import find_upgraded_voters, upgrade
from snakka.quorum.peers import PendingRequest
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Flush, Inbound, Ready
from snakka.quorum.reconfiguration import (
    fail_api_versions,
    handle_add,
    handle_api_versions_response,
    handle_remove,
    handle_update,
)
from snakka.quorum.role import Follower, Leader, Resigned, Role, Unattached
from snakka.quorum.roles import poll
from snakka.quorum.serving import handle_fetch
from snakka.quorum.snapshot_fetching import handle_fetch_snapshot_response
from snakka.quorum.snapshot_format import check_snapshot
from snakka.quorum.snapshot_serving import handle_fetch_snapshot
from snakka.quorum.transitions import become_resigned, election_timeout_ms
from snakka.quorum.voters import VoterSet
from snakka.quorum.voting import handle_unsupported_vote, handle_vote, handle_vote_response

_Handler = Callable[[Quorum, Inbound, Any, int], None]

_HANDLERS: Final[dict[type[Request], _Handler]] = {
    VoteRequest: handle_vote,
    BeginQuorumEpochRequest: handle_begin,
    EndQuorumEpochRequest: handle_end,
    FetchRequest: handle_fetch,
    FetchSnapshotRequest: handle_fetch_snapshot,
    DescribeQuorumRequest: handle_describe,
    AddRaftVoterRequest: handle_add,
    RemoveRaftVoterRequest: handle_remove,
    UpdateRaftVoterRequest: handle_update,
}

QUORUM_REQUESTS: Final = frozenset(_HANDLERS)


class NotLeaderError(Exception):
    """Only the leader appends."""


class RecordsTooLargeError(ValueError):
    """More records at once than one batch may hold."""


class Submitted(NamedTuple):
    """Where records were appended. They may be lost again until they are committed."""

    first_offset: int
    last_offset: int
    epoch: int


class QuorumReplica:
    __slots__ = ("_deadline_ms", "_quorum")

    def __init__(self, quorum: Quorum, now_ms: int) -> None:
        """A replica as it was left: its log, its snapshots and its last election state."""
        self._quorum = quorum
        self._resume(now_ms)
        self._deadline_ms: int | None = None
        self._advance(now_ms)

    def _resume(self, now_ms: int) -> None:
        """It follows nobody until it hears from a leader; one that led has resigned.

        A candidate does not go on either: the log it got votes for may have lost its end.
        """
        quorum = self._quorum
        if quorum.log.end.epoch > quorum.epoch:
            quorum.election = ElectionState(quorum.log.end.epoch)
        deadline_ms = now_ms + election_timeout_ms(quorum)
        if quorum.voters.is_only_voter(quorum.local.key):
            quorum.role = Unattached(now_ms)
        elif quorum.leader_id == quorum.local.key.id:
            others = {voter.key for voter in quorum.voters.voters}
            others -= {key for key in others if key.id == quorum.local.key.id}
            quorum.role = Resigned(deadline_ms, others, ())
        else:
            quorum.role = Unattached(deadline_ms)

    # What happens to it.

    def receive(self, inbound: Inbound, now_ms: int) -> None:
        """A request, from another replica or from an administrator."""
        _HANDLERS[type(inbound.message)](self._quorum, inbound, inbound.message, now_ms)
        self._advance(now_ms)

    def respond(self, correlation_id: int, response: Response, now_ms: int) -> None:
        """The answer to a request that was sent."""
        quorum = self._quorum
        role = quorum.role
        pending = quorum.peers.finish(correlation_id)
        if pending is not None:
            is_of_use = self._take_response(pending, response, now_ms)
            # One that has taught us another leader or epoch was of use, too.
            if not is_of_use and quorum.role is role:
                quorum.peers.back_off(pending.node, now_ms, quorum.config)
        self._advance(now_ms)

    def fail(self, correlation_id: int, error: ErrorCode, now_ms: int) -> None:
        """A request that was sent has failed, or could not be sent."""
        quorum = self._quorum
        pending = quorum.peers.finish(correlation_id)
        if pending is not None:
            quorum.peers.back_off(pending.node, now_ms, quorum.config)
            if isinstance(pending.message, ApiVersionsRequest):
                fail_api_versions(quorum)
            elif isinstance(pending.message, VoteRequest) and (
                error is ErrorCode.UNSUPPORTED_VERSION
            ):
                handle_unsupported_vote(quorum, now_ms)
        self._advance(now_ms)

    def tick(self, now_ms: int) -> None:
        self._quorum.peers.expire(now_ms)
        self._advance(now_ms)

    def flushed(self, flush: Flush, now_ms: int) -> None:
        """The log is synced as a `Ready` has asked."""
        self._quorum.was_flushed(flush)
        self._advance(now_ms)

    def submit(self, values: Sequence[bytes], now_ms: int) -> Submitted:
        """Appends records as one batch: all of them will be there, or none."""
        quorum = self._quorum
        self._lead()
        offset = quorum.log.end.offset
        records = [Record(offset + i, now_ms, None, value) for i, value in enumerate(values)]
        batch = build_batch(records, leader_epoch=quorum.epoch)
        if len(batch) > quorum.config.batch_max_bytes:
            raise RecordsTooLargeError(
                f"{len(batch)} bytes of records are over {quorum.config.batch_max_bytes}"
            )
        quorum.append(batch)
        self._advance(now_ms)
        return Submitted(offset, records[-1].offset, quorum.epoch)

    def check_kraft_version(self, version: int) -> None:
        """Raises KraftUpgradeError unless the log may go on with this kraft.version."""
        find_upgraded_voters(self._quorum, self._lead(), version)

    def upgrade_kraft_version(self, version: int, now_ms: int) -> None:
        """Writes it, and the voters; nothing where it is in force."""
        upgrade(self._quorum, self._lead(), version, now_ms)
        self._advance(now_ms)

    def _lead(self) -> Leader:
        if not isinstance(self._quorum.role, Leader):
            raise NotLeaderError
        return self._quorum.role

    def check_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        """Raises unless a snapshot of what is applied there may be written."""
        check_snapshot(self._quorum, snapshot_id)

    def advance_log_start(self, snapshot_id: OffsetAndEpoch) -> None:
        """Drops the log that a snapshot written here covers. How much to keep is the driver's."""
        check_snapshot(self._quorum, snapshot_id)
        self._quorum.advance_log_start(snapshot_id)

    def resign(self, now_ms: int) -> None:
        """Gives up leadership, as a controller does that cannot go on; it may be elected again."""
        if isinstance(self._quorum.role, Leader):
            become_resigned(self._quorum, self._quorum.role, now_ms)
        self._advance(now_ms)

    def shut_down(self, now_ms: int) -> None:
        """Hands over leadership and stands no more; `has_shut_down` tells when it is done."""
        self._quorum.is_shutting_down = True
        self._advance(now_ms)

    # What it is.

    @property
    def role(self) -> Role:
        return self._quorum.role

    @property
    def is_leader(self) -> bool:
        return isinstance(self._quorum.role, Leader)

    @property
    def leader_id(self) -> int | None:
        return self._quorum.leader_id

    @property
    def epoch(self) -> int:
        return self._quorum.epoch

    @property
    def high_watermark(self) -> int | None:
        return self._quorum.high_watermark

    @property
    def voters(self) -> VoterSet:
        return self._quorum.voters

    @property
    def kraft_version(self) -> int:
        return self._quorum.history.kraft_version

    @property
    def quorum(self) -> Quorum:
        """All that it knows, to be read only."""
        return self._quorum

    @property
    def has_shut_down(self) -> bool:
        quorum = self._quorum
        if not quorum.is_shutting_down:
            return False
        is_succeeded = quorum.leader_id not in (None, quorum.local.key.id)
        is_alone = quorum.voters.is_only_voter(quorum.local.key)
        return is_succeeded or is_alone or not quorum.is_voter

    def next_deadline_ms(self, now_ms: int) -> int | None:
        """When to tick at the latest."""
        moments = (self._deadline_ms, self._quorum.peers.next_deadline_ms(now_ms))
        return min((each for each in moments if each is not None), default=None)

    def take_ready(self) -> Ready:
        return self._quorum.take_ready()

    def _advance(self, now_ms: int) -> None:
        """Lets the role act until it stays: a voter that is alone goes from none to leader."""
        while True:
            role = self._quorum.role
            self._deadline_ms = poll(self._quorum, now_ms)
            if self._quorum.role is role:
                return

    def _take_response(self, pending: PendingRequest, response: Response, now_ms: int) -> bool:
        quorum = self._quorum
        match response:
            case FetchResponse():
                return handle_fetch_response(quorum, response, now_ms)
            case VoteResponse():
                return handle_vote_response(quorum, pending, response, now_ms)
            case BeginQuorumEpochResponse():
                return handle_begin_response(quorum, response, now_ms)
            case EndQuorumEpochResponse():
                return handle_end_response(quorum, pending, response, now_ms)
            case FetchSnapshotResponse():
                return handle_fetch_snapshot_response(quorum, response, now_ms)
            case ApiVersionsResponse():
                return handle_api_versions_response(quorum, pending, response)
            case UpdateRaftVoterResponse() if isinstance(quorum.role, Follower):
                quorum.role.has_told = response.error_code == ErrorCode.NONE
                return True
            case _:  # of UpdateRaftVoter, AddRaftVoter, RemoveRaftVoter: the log tells the rest
                return True
