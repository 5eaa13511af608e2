"""Vote: who gets this replica's vote, and counting those that it is given.

KIP-595; KIP-853: a candidate names the voter it means by its directory; KIP-996: a pre-vote binds
nobody and is refused by those who hear from a leader.

Senders are checked to be voters. A voter that our log does not know yet is believed only with a
log ahead of ours, where it may have become one; a removed voter's log is not. Not here: whether
the connection may speak for the cluster at all, which the listener decides.
"""

from typing import assert_never

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.vote import RequestPartitionData, VoteRequest, VoteResponse
from snakka.quorum.hints import has_partition, leader_hint, settle
from snakka.quorum.peers import PendingRequest
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Inbound
from snakka.quorum.replies import PARTITION, TOPIC, vote_reply
from snakka.quorum.role import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)
from snakka.quorum.transitions import become_candidate, become_unattached
from snakka.quorum.voters import ReplicaKey


def handle_vote(quorum: Quorum, inbound: Inbound, request: VoteRequest, now_ms: int) -> None:
    partition = _find_partition(request)
    if request.cluster_id not in (None, quorum.local.cluster_id):
        quorum.reply(inbound, VoteResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID, topics=[]))
        return
    if partition is None:
        quorum.reply(inbound, VoteResponse(error_code=ErrorCode.INVALID_REQUEST, topics=[]))
        return
    candidate = ReplicaKey(partition.replica_id, partition.replica_directory_id)
    named = ReplicaKey(request.voter_id, partition.voter_directory_id)
    error = _check(quorum, partition, candidate, named)
    if error is not ErrorCode.NONE:
        quorum.reply(inbound, vote_reply(quorum, inbound, error))
        return
    if partition.replica_epoch > quorum.epoch:
        become_unattached(quorum, partition.replica_epoch, now_ms)
    candidate_end = OffsetAndEpoch(partition.last_offset, partition.last_offset_epoch)
    granted = can_grant(quorum, candidate, candidate_end, pre_vote=partition.pre_vote)
    if granted and not partition.pre_vote and quorum.election.voted is None:
        become_unattached(quorum, quorum.epoch, now_ms, voted=candidate)
    quorum.reply(inbound, vote_reply(quorum, inbound, ErrorCode.NONE, granted=granted))


def _find_partition(request: VoteRequest) -> RequestPartitionData | None:
    if [topic.topic_name for topic in request.topics] != [TOPIC]:
        return None
    partitions = request.topics[0].partitions
    return partitions[0] if [each.partition_index for each in partitions] == [PARTITION] else None


def _check(
    quorum: Quorum, partition: RequestPartitionData, candidate: ReplicaKey, named: ReplicaKey
) -> ErrorCode:
    epoch = partition.replica_epoch
    last_epoch = partition.last_offset_epoch
    if partition.last_offset < 0 or last_epoch < 0 or candidate.id < 0:
        return ErrorCode.INVALID_REQUEST
    # A candidate has begun an epoch that no log can have records of; a prospective one has not.
    if last_epoch > epoch or (last_epoch == epoch and not partition.pre_vote):
        return ErrorCode.INVALID_REQUEST
    if epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if not is_named(quorum, named):
        return ErrorCode.INVALID_VOTER_KEY
    if not may_vote(quorum, candidate, OffsetAndEpoch(partition.last_offset, last_epoch)):
        return ErrorCode.INCONSISTENT_VOTER_SET
    return ErrorCode.NONE


def is_named(quorum: Quorum, named: ReplicaKey) -> bool:
    """Whether the sender means this replica: older ones name nobody, or no directory."""
    own = quorum.local.key
    return named.id < 0 or named in (own, ReplicaKey(own.id))


def may_vote(quorum: Quorum, sender: ReplicaKey, sender_end: OffsetAndEpoch) -> bool:
    """Whether a sender with such a log may be a voter, as far as this replica can know."""
    voters = quorum.voters
    if sender.id == quorum.local.key.id:
        return False
    if voters.has_voter(sender) or not voters.voters:
        return True
    if not quorum.history.is_dynamic:
        return False
    return not quorum.log.end.is_up_to_date_with(sender_end)


def can_grant(
    quorum: Quorum, candidate: ReplicaKey, candidate_end: OffsetAndEpoch, *, pre_vote: bool
) -> bool:
    """Whether the candidate gets a vote in this epoch: one at most does, and none without a log
    that holds all we may have helped to commit."""
    if not candidate_end.is_up_to_date_with(quorum.log.end):
        return False
    if pre_vote:
        return not _hears_from_leader(quorum)
    if quorum.election.voted is not None:
        return quorum.election.voted == candidate
    return quorum.leader_id is None


def _hears_from_leader(quorum: Quorum) -> bool:
    match quorum.role:
        case Leader():
            return True
        case Follower(has_fetched=has_fetched):
            return has_fetched
        case Unattached() | Prospective() | Candidate() | Resigned():
            return False
        case _ as never:
            assert_never(never)


def handle_vote_response(
    quorum: Quorum, pending: PendingRequest, response: VoteResponse, now_ms: int
) -> bool:
    """Whether the voter answered; a refusal is an answer."""
    if response.error_code != ErrorCode.NONE or not has_partition(response.topics):
        return False
    partition = response.topics[0].partitions[0]
    hint = leader_hint(quorum, partition.leader_id, partition.leader_epoch, response.node_endpoints)
    if not settle(quorum, partition.error_code, hint, now_ms):
        return False
    role = quorum.role
    if isinstance(role, Prospective | Candidate):
        voter = role.voters.find(pending.node.id)
        if voter is not None:
            answers = role.granting if partition.vote_granted else role.rejecting
            answers.add(voter.key)
    return True


def handle_unsupported_vote(quorum: Quorum, now_ms: int) -> bool:
    """A voter too old for pre-votes: there is nothing to ask it but its vote."""
    role = quorum.role
    if not isinstance(role, Prospective):
        return False
    become_candidate(quorum, role, now_ms)
    return True
