"""AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter: the leader changes the voters (KIP-853).

One at a time: a change begins when the leader has committed in its own epoch and the last change
is committed, so that no two majorities can miss each other. A new voter must support the
kraft.version, which its ApiVersions answer tells, and be caught up, for which it is waited. A
leader that is removed leads until that is committed, without counting itself, and resigns.

Not here: how a replica asks to be added or updated (roles/follower.py, roles/observer.py), how the
voters come into the log (kraft_upgrade.py).
"""

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.add_raft_voter import AddRaftVoterRequest
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from snakka.protocol.messages.update_raft_voter import UpdateRaftVoterRequest
from snakka.protocol.types import ZERO_UUID
from snakka.quorum.control_records import control_batch, voters_record
from snakka.quorum.kraft_upgrade import note_configured_voter
from snakka.quorum.peers import PendingRequest
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Inbound
from snakka.quorum.replies import update_voter_reply, voter_change_reply
from snakka.quorum.requests import find_node, find_voter_node
from snakka.quorum.role import Leader, VoterChange
from snakka.quorum.serving import check_leader
from snakka.quorum.transitions import check_quorum_timeout_ms
from snakka.quorum.voters import Endpoint, ReplicaKey, VersionRange, Voter, VoterSet

_FEATURE = "kraft.version"


def handle_add(quorum: Quorum, inbound: Inbound, request: AddRaftVoterRequest, now_ms: int) -> None:
    error, reason = _check_add(quorum, request)
    leader = quorum.role
    if error is not ErrorCode.NONE or not isinstance(leader, Leader):
        quorum.reply(inbound, voter_change_reply(request, error, reason))
        return
    endpoints = _endpoints(request)
    node = find_node(quorum, request.voter_id, endpoints)
    if node is None or not quorum.peers.is_ready(node, now_ms):
        reason = "The new voter is not ready to receive requests."
        quorum.reply(inbound, voter_change_reply(request, ErrorCode.REQUEST_TIMED_OUT, reason))
        return
    timeout_ms = min(max(request.timeout_ms, 0), quorum.config.request_timeout_ms)
    leader.change = VoterChange(inbound, now_ms + timeout_ms)
    quorum.send(
        node,
        ApiVersionsRequest(client_software_name="snakka", client_software_version="quorum"),
        now_ms,
    )


def _endpoints(request: AddRaftVoterRequest | UpdateRaftVoterRequest) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(each.name, each.host, each.port) for each in request.listeners)


def _check_add(quorum: Quorum, request: AddRaftVoterRequest) -> tuple[ErrorCode, str | None]:
    error, reason = _check_request(quorum, request)
    if error is not ErrorCode.NONE:
        return error, reason
    if find_node(quorum, request.voter_id, _endpoints(request)) is None:
        name = quorum.local.listener_name
        return ErrorCode.INVALID_REQUEST, f"The request has no endpoint of listener {name}."
    error, reason = _check_change(quorum)
    if error is ErrorCode.NONE and quorum.voters.find(request.voter_id) is not None:
        reason = f"The id {request.voter_id} is one of the voters {quorum.voters} already."
        return ErrorCode.DUPLICATE_VOTER, reason
    return error, reason


def _check_request(
    quorum: Quorum, request: AddRaftVoterRequest | RemoveRaftVoterRequest
) -> tuple[ErrorCode, str | None]:
    if request.cluster_id not in (None, quorum.local.cluster_id):
        reason = f"{request.cluster_id} is not the cluster id {quorum.local.cluster_id}."
        return ErrorCode.INCONSISTENT_CLUSTER_ID, reason
    error = check_leader(quorum, quorum.epoch)
    if error is not ErrorCode.NONE:
        return error, None
    if request.voter_id < 0 or request.voter_directory_id == ZERO_UUID:
        return ErrorCode.INVALID_REQUEST, "The request has no voter id or no directory id."
    return ErrorCode.NONE, None


def _check_change(quorum: Quorum) -> tuple[ErrorCode, str | None]:
    """Whether the voters may change now."""
    leader = quorum.role
    if not isinstance(leader, Leader):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER, None
    if not quorum.history.is_dynamic:
        reason = f"Voters cannot change while {_FEATURE} is {quorum.history.kraft_version}."
        return ErrorCode.UNSUPPORTED_VERSION, reason
    if leader.change is not None:
        return ErrorCode.REQUEST_TIMED_OUT, "Another change of voters is under way."
    entry = quorum.history.find_last_entry()
    if not quorum.is_committed(leader.epoch_start_offset):
        return ErrorCode.REQUEST_TIMED_OUT, "The leader has not committed in its epoch yet."
    if entry is None or not quorum.is_committed(entry.offset):
        return ErrorCode.REQUEST_TIMED_OUT, "The last change of voters is not committed yet."
    return ErrorCode.NONE, None


def handle_api_versions_response(
    quorum: Quorum, pending: PendingRequest, response: ApiVersionsResponse
) -> bool:
    """The new voter says which versions it supports; if it fits it is added once caught up."""
    leader = quorum.role
    if not isinstance(leader, Leader) or leader.change is None:
        return True
    request = leader.change.inbound.message
    if not isinstance(request, AddRaftVoterRequest) or request.voter_id != pending.node.id:
        return True
    if response.error_code != ErrorCode.NONE:
        end_change(quorum, leader, ErrorCode.REQUEST_TIMED_OUT)
        return False
    versions = next(
        (
            VersionRange(each.min_version, each.max_version)
            for each in response.supported_features
            if each.name == _FEATURE
        ),
        VersionRange(0, 0),
    )
    if quorum.history.kraft_version not in versions:
        end_change(quorum, leader, ErrorCode.INVALID_REQUEST)
        return True
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    leader.change.joining = Voter(key, _endpoints(request), versions)
    return True


def fail_api_versions(quorum: Quorum) -> None:
    leader = quorum.role
    if isinstance(leader, Leader) and leader.change is not None:
        end_change(quorum, leader, ErrorCode.REQUEST_TIMED_OUT)


def handle_remove(
    quorum: Quorum, inbound: Inbound, request: RemoveRaftVoterRequest, now_ms: int
) -> None:
    error, reason = _check_request(quorum, request)
    if error is ErrorCode.NONE:
        error, reason = _check_change(quorum)
    leader = quorum.role
    if error is not ErrorCode.NONE or not isinstance(leader, Leader):
        quorum.reply(inbound, voter_change_reply(request, error, reason))
        return
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    voters = quorum.voters.without_voter(key)
    if voters is None:
        reason = f"{key} cannot be removed from the voters {quorum.voters}."
        quorum.reply(inbound, voter_change_reply(request, ErrorCode.VOTER_NOT_FOUND, reason))
        return
    leader.change = VoterChange(inbound, now_ms + quorum.config.request_timeout_ms)
    leader.change.offset = append_voters(quorum, leader, voters, now_ms)


def handle_update(
    quorum: Quorum, inbound: Inbound, request: UpdateRaftVoterRequest, now_ms: int
) -> None:
    quorum.reply(inbound, update_voter_reply(quorum, _update(quorum, request, now_ms)))


def _update(quorum: Quorum, request: UpdateRaftVoterRequest, now_ms: int) -> ErrorCode:
    if request.cluster_id not in (None, quorum.local.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    error = check_leader(quorum, request.current_leader_epoch)
    if error is not ErrorCode.NONE:
        return error
    feature = request.kraft_version_feature
    versions = VersionRange(feature.min_supported_version, feature.max_supported_version)
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    voter = Voter(key, _endpoints(request), versions)
    if key.id < 0 or key.directory_id == ZERO_UUID or find_voter_node(quorum, voter) is None:
        return ErrorCode.INVALID_REQUEST
    if quorum.history.kraft_version not in versions:
        return ErrorCode.INVALID_REQUEST
    if not quorum.history.is_dynamic and isinstance(quorum.role, Leader):
        return note_configured_voter(quorum, quorum.role, voter)
    error, _ = _check_change(quorum)
    if error is not ErrorCode.NONE:
        return error
    voters = quorum.voters.with_updated(voter)
    if voters is None:
        return ErrorCode.VOTER_NOT_FOUND
    if voters != quorum.voters and isinstance(quorum.role, Leader):
        append_voters(quorum, quorum.role, voters, now_ms)
    return ErrorCode.NONE


def append_voters(quorum: Quorum, leader: Leader, voters: VoterSet, now_ms: int) -> int:
    """Writes the new set, by which the leader goes from now on; the offset of the record."""
    offset = quorum.log.end.offset
    batch = control_batch(
        [voters_record(voters)], base_offset=offset, epoch=quorum.epoch, timestamp_ms=now_ms
    )
    quorum.append(batch)
    leader.replicas.follow(voters)
    leader.check_quorum_deadline_ms = now_ms + check_quorum_timeout_ms(quorum)
    return offset


def advance_change(quorum: Quorum, leader: Leader, now_ms: int) -> None:
    """Adds the new voter once it is caught up, ends a change once it is committed or late."""
    change = leader.change
    if change is None:
        return
    request = change.inbound.message
    if change.offset is None and change.joining is not None:
        _add_if_caught_up(quorum, leader, change, change.joining, now_ms)
    is_early = isinstance(request, AddRaftVoterRequest) and not request.ack_when_committed
    if change.offset is not None and (is_early or quorum.is_committed(change.offset)):
        end_change(quorum, leader, ErrorCode.NONE)
    elif change.deadline_ms <= now_ms:
        end_change(quorum, leader, ErrorCode.REQUEST_TIMED_OUT)


def _add_if_caught_up(
    quorum: Quorum, leader: Leader, change: VoterChange, voter: Voter, now_ms: int
) -> None:
    progress = leader.replicas.observers.get(voter.key)
    if progress is None:
        return
    is_caught_up = 0 <= progress.last_caught_up_ms >= now_ms - quorum.config.voter_lag_ms_max
    voters = quorum.voters.with_voter(voter)
    if is_caught_up and voters is not None:
        change.offset = append_voters(quorum, leader, voters, now_ms)


def end_change(quorum: Quorum, leader: Leader, error: ErrorCode) -> None:
    """Answers. What is written stays written, and may be committed after the answer."""
    change, leader.change = leader.change, None
    if change is not None:
        reply = voter_change_reply(change.inbound.message, error)
        quorum.reply(change.inbound, reply)


def must_resign(quorum: Quorum) -> bool:
    """Whether it is committed that this leader votes no more."""
    entry = quorum.history.find_last_entry()
    return not quorum.is_voter and (entry is None or quorum.is_committed(entry.offset))
