"""BeginQuorumEpoch and EndQuorumEpoch: a leader makes itself known, or steps down.

KIP-595, KIP-853. Their senders are checked to be voters. One that our log does not know may have
become one since, if it names this replica by its directory, as only a voter set can tell it; and
only where voters change at all.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages import begin_quorum_epoch, end_quorum_epoch
from snakka.quorum.hints import LeaderHint, enter_epoch, follow, has_partition, leader_hint, settle
from snakka.quorum.peers import PendingRequest
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Inbound
from snakka.quorum.replies import PARTITION, TOPIC, begin_reply, end_reply
from snakka.quorum.role import Follower, Prospective, Resigned, Unattached
from snakka.quorum.voters import Endpoint, ReplicaKey
from snakka.quorum.voting import is_named

_NOBODY: Final = ReplicaKey(-1)  # EndQuorumEpoch does not say whom it is for


class _Endpoint(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...


def handle_begin(
    quorum: Quorum,
    inbound: Inbound,
    request: begin_quorum_epoch.BeginQuorumEpochRequest,
    now_ms: int,
) -> None:
    error = ErrorCode.NONE
    if request.cluster_id not in (None, quorum.local.cluster_id):
        error = ErrorCode.INCONSISTENT_CLUSTER_ID
    elif not _is_ours(request.topics):
        error = ErrorCode.INVALID_REQUEST
    if error is not ErrorCode.NONE:
        failed = begin_quorum_epoch.BeginQuorumEpochResponse(error_code=error, topics=[])
        quorum.reply(inbound, failed)
        return
    partition = request.topics[0].partitions[0]
    named = ReplicaKey(request.voter_id, partition.voter_directory_id)
    hint = _hint(quorum, partition.leader_id, partition.leader_epoch, request.leader_endpoints)
    error = _check(quorum, hint, named)
    if error is ErrorCode.NONE:
        _accept(quorum, hint, now_ms)
    quorum.reply(inbound, begin_reply(quorum, inbound, error))


def handle_end(
    quorum: Quorum, inbound: Inbound, request: end_quorum_epoch.EndQuorumEpochRequest, now_ms: int
) -> None:
    error = ErrorCode.NONE
    if request.cluster_id not in (None, quorum.local.cluster_id):
        error = ErrorCode.INCONSISTENT_CLUSTER_ID
    elif not _is_ours(request.topics):
        error = ErrorCode.INVALID_REQUEST
    if error is not ErrorCode.NONE:
        failed = end_quorum_epoch.EndQuorumEpochResponse(error_code=error, topics=[])
        quorum.reply(inbound, failed)
        return
    partition = request.topics[0].partitions[0]
    hint = _hint(quorum, partition.leader_id, partition.leader_epoch, request.leader_endpoints)
    error = _check(quorum, hint, named=_NOBODY)
    if error is ErrorCode.NONE:
        _accept(quorum, hint, now_ms)
        _prepare_succession(quorum, partition, now_ms)
    quorum.reply(inbound, end_reply(quorum, inbound, error))


def _is_ours(
    topics: Sequence[begin_quorum_epoch.RequestTopicData | end_quorum_epoch.RequestTopicData],
) -> bool:
    named = [
        (each.topic_name, [part.partition_index for part in each.partitions]) for each in topics
    ]
    return named == [(TOPIC, [PARTITION])]


def _hint(quorum: Quorum, leader_id: int, epoch: int, endpoints: Sequence[_Endpoint]) -> LeaderHint:
    given = tuple(Endpoint(each.name, each.host, each.port) for each in endpoints)
    return LeaderHint(leader_id, epoch, given or leader_hint(quorum, leader_id, epoch).endpoints)


def _check(quorum: Quorum, hint: LeaderHint, named: ReplicaKey) -> ErrorCode:
    if hint.epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if hint.leader_id is None or hint.leader_id < 0 or hint.leader_id == quorum.local.key.id:
        return ErrorCode.INVALID_REQUEST
    if not is_named(quorum, named):
        return ErrorCode.INVALID_VOTER_KEY
    if not _may_lead(quorum, hint.leader_id, named):
        return ErrorCode.INCONSISTENT_VOTER_SET
    if hint.epoch == quorum.epoch and quorum.leader_id not in (None, hint.leader_id):
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE


def _may_lead(quorum: Quorum, leader_id: int, named: ReplicaKey) -> bool:
    voters = quorum.voters
    if voters.find(leader_id) is not None or not voters.voters or leader_id == quorum.leader_id:
        return True
    return quorum.history.is_dynamic and named == quorum.local.key


def _accept(quorum: Quorum, hint: LeaderHint, now_ms: int) -> None:
    if hint.epoch > quorum.epoch:
        enter_epoch(quorum, hint, now_ms)
        return
    match quorum.role:
        case Follower(leader_endpoints=known) if len(hint.endpoints) <= len(known):
            pass
        case Follower() | Unattached() | Prospective():
            follow(quorum, hint, now_ms)
        case _ if quorum.leader_id is None:
            follow(quorum, hint, now_ms)


def _prepare_succession(
    quorum: Quorum, partition: end_quorum_epoch.RequestPartitionData, now_ms: int
) -> None:
    """The best successor stands at once, the others later one by one, in case it does not win."""
    role = quorum.role
    if not isinstance(role, Follower) or quorum.leader_id != partition.leader_id:
        return
    candidates = [
        ReplicaKey(each.candidate_id, each.candidate_directory_id)
        for each in partition.preferred_candidates
    ] or [ReplicaKey(replica_id) for replica_id in partition.preferred_successors]
    own = quorum.local.key
    position = next((i for i, key in enumerate(candidates) if is_named(quorum, key)), None)
    if own.id < 0 or position is None:
        position = len(candidates)
    backoff_ms = succession_backoff_ms(
        position, len(candidates), quorum.config.election_backoff_max_ms
    )
    role.fetch_deadline_ms = now_ms + backoff_ms
    role.has_fetched = False


def succession_backoff_ms(position: int, count: int, backoff_max_ms: int) -> int:
    """Nothing for the first; then doubling, up to the configured maximum for the last."""
    if position == 0:
        return 0
    if position >= count:
        return backoff_max_ms
    return min(backoff_max_ms, backoff_max_ms >> (count - 1) << (position - 1))


def handle_begin_response(
    quorum: Quorum,
    response: begin_quorum_epoch.BeginQuorumEpochResponse,
    now_ms: int,
) -> bool:
    if response.error_code != ErrorCode.NONE or not has_partition(response.topics):
        return False
    partition = response.topics[0].partitions[0]
    hint = leader_hint(quorum, partition.leader_id, partition.leader_epoch, response.node_endpoints)
    return settle(quorum, partition.error_code, hint, now_ms)


def handle_end_response(
    quorum: Quorum,
    pending: PendingRequest,
    response: end_quorum_epoch.EndQuorumEpochResponse,
    now_ms: int,
) -> bool:
    if response.error_code != ErrorCode.NONE or not has_partition(response.topics):
        return False
    partition = response.topics[0].partitions[0]
    hint = leader_hint(quorum, partition.leader_id, partition.leader_epoch, response.node_endpoints)
    if not settle(quorum, partition.error_code, hint, now_ms):
        return False
    if isinstance(quorum.role, Resigned):
        known = quorum.role.unacknowledged
        known -= {key for key in known if key.id == pending.node.id}
    return True
