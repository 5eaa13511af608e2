"""Every change of role, and what each must do to the election state.

A new epoch forgets leader and vote; within an epoch both are kept. Whatever was under way in the
old role is forgotten, and a leader that leaves answers those who wait.

Not here: when to change (roles/, and what answers requests).
"""

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.schema import Message
from snakka.quorum.control_records import (
    control_batch,
    kraft_version_record,
    leader_change,
    voters_record,
)
from snakka.quorum.election_state import ElectionState
from snakka.quorum.progress import Replicas
from snakka.quorum.quorum import Quorum
from snakka.quorum.replies import fetch_error, voter_change_reply
from snakka.quorum.role import (
    TRANSITIONS,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
)
from snakka.quorum.voters import Endpoint, ReplicaKey, VoterSet

_CHECK_QUORUM_FACTOR = 1.5  # of the fetch timeout; as in Kafka
_UPDATE_VOTER_FACTOR = 3  # of the fetch timeout; as in Kafka


def election_timeout_ms(quorum: Quorum) -> int:
    """By chance up to twice the configured one, so that voters do not stand all at once."""
    timeout_ms = quorum.config.election_timeout_ms
    return timeout_ms + quorum.rng.randrange(timeout_ms)


def check_quorum_timeout_ms(quorum: Quorum) -> int:
    return int(quorum.config.fetch_timeout_ms * _CHECK_QUORUM_FACTOR)


def update_voter_period_ms(quorum: Quorum) -> int:
    return quorum.config.fetch_timeout_ms * _UPDATE_VOTER_FACTOR


def become_unattached(
    quorum: Quorum, epoch: int, now_ms: int, *, voted: ReplicaKey | None = None
) -> None:
    """Goes to `epoch`, or stays in it without following, having voted for somebody or not.

    One who waits for an election already goes on waiting: else a stream of new epochs from one who
    cannot win would keep all others from standing.
    """
    election = _in_epoch(quorum, epoch)
    match quorum.role:
        case Unattached(election_deadline_ms=deadline_ms) if voted is None:
            pass
        case Candidate(deadline_ms=deadline_ms) if deadline_ms > now_ms:
            pass
        case _:
            deadline_ms = now_ms + election_timeout_ms(quorum)
    _enter(quorum, election._replace(voted=voted or election.voted), Unattached(deadline_ms))


def become_prospective(quorum: Quorum, now_ms: int) -> None:
    role = quorum.role
    own = quorum.local.key
    retries = role.retries + 1 if isinstance(role, Candidate) else 1
    endpoints = role.leader_endpoints if isinstance(role, Follower) else ()
    deadline_ms = now_ms + election_timeout_ms(quorum)
    _enter(
        quorum,
        quorum.election,
        Prospective(
            quorum.voters, deadline_ms, retries, endpoints, _own_voter_keys(quorum.voters, own)
        ),
    )


def become_candidate(quorum: Quorum, role: Prospective, now_ms: int) -> None:
    own = quorum.local.key
    deadline_ms = now_ms + election_timeout_ms(quorum)
    _enter(
        quorum,
        ElectionState(quorum.epoch + 1, None, own),
        Candidate(role.voters, deadline_ms, role.retries, _own_voter_keys(role.voters, own)),
    )


def _own_voter_keys(voters: VoterSet, own: ReplicaKey) -> set[ReplicaKey]:
    """How the voters name this replica: perhaps without its directory."""
    return {voter.key for voter in voters.voters if voter.is_replica(own)}


def become_follower(
    quorum: Quorum, epoch: int, leader_id: int, endpoints: tuple[Endpoint, ...], now_ms: int
) -> None:
    _enter(
        quorum,
        _in_epoch(quorum, epoch)._replace(leader_id=leader_id),
        Follower(
            endpoints,
            fetch_deadline_ms=now_ms + quorum.config.fetch_timeout_ms,
            update_voter_at_ms=now_ms + update_voter_period_ms(quorum),
        ),
    )


def become_leader(quorum: Quorum, role: Candidate, now_ms: int) -> None:
    """Starts the epoch with a record of its own: until that is committed, nothing before it that
    only happens to be on a majority may count as committed."""
    replicas = Replicas()
    replicas.follow(quorum.voters)
    granting = frozenset(role.granting)
    leader = Leader(
        quorum.log.end.offset,
        granting,
        replicas,
        check_quorum_deadline_ms=now_ms + check_quorum_timeout_ms(quorum),
        begin_epoch_at_ms=now_ms,
    )
    _enter(quorum, quorum.election._replace(leader_id=quorum.local.key.id), leader)
    _append_start_of_epoch(quorum, granting, now_ms)


def _append_start_of_epoch(quorum: Quorum, granting: frozenset[ReplicaKey], now_ms: int) -> None:
    history = quorum.history
    messages: list[Message] = [leader_change(quorum.local.key.id, quorum.voters, granting)]
    entry = history.find_last_entry()
    if history.is_dynamic and entry is not None:
        updated = quorum.voters.with_updated(quorum.local.voter)
        # Voters that only the checkpoint of `format` holds are on this node alone until now.
        if updated is not None and (entry.offset < 0 or updated != quorum.voters):
            messages += [kraft_version_record(history.kraft_version), voters_record(updated)]
    quorum.append(
        control_batch(
            messages,
            base_offset=quorum.log.end.offset,
            epoch=quorum.epoch,
            timestamp_ms=now_ms,
        )
    )


def become_resigned(quorum: Quorum, role: Leader, now_ms: int) -> None:
    own = quorum.local.key
    others = {key for key in role.replicas.voters if key.id != own.id}
    successors = [key for key in role.replicas.by_descending_offset() if key in others]
    deadline_ms = now_ms + election_timeout_ms(quorum)
    _enter(quorum, quorum.election, Resigned(deadline_ms, others, tuple(successors)))


def _in_epoch(quorum: Quorum, epoch: int) -> ElectionState:
    return quorum.election if epoch == quorum.epoch else ElectionState(epoch)


def _enter(quorum: Quorum, election: ElectionState, role: Role) -> None:
    before = quorum.role
    if type(role) not in TRANSITIONS[type(before)]:
        raise AssertionError(f"{type(before).__name__} to {type(role).__name__}")
    if not election.follows(quorum.election):
        raise AssertionError(f"{quorum.election} to {election}")
    quorum.election = election
    quorum.role = role
    quorum.drop_requests()
    if isinstance(before, Leader):
        _dismiss(quorum, before)


def _dismiss(quorum: Quorum, leader: Leader) -> None:
    """Nobody who waits for this leader will get anything from it any more."""
    for parked in leader.parked.values():
        quorum.reply(
            parked.inbound, fetch_error(quorum, parked.inbound, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        )
    if leader.change is not None:
        inbound = leader.change.inbound
        reply = voter_change_reply(inbound.message, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        quorum.reply(inbound, reply)
