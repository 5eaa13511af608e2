"""Requests that other replicas might send, right or wrong, and answers they might give."""

from snakka.protocol.messages import begin_quorum_epoch, end_quorum_epoch, fetch, vote
from snakka.protocol.types import ZERO_UUID, Buffer
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.replies import TOPIC, TOPIC_ID
from snakka.quorum.voters import ReplicaKey

NOBODY = ReplicaKey(-1, ZERO_UUID)


def vote_request(
    sender: ReplicaKey,
    epoch: int,
    end: OffsetAndEpoch,
    *,
    to: ReplicaKey = NOBODY,
    pre_vote: bool = False,
    cluster_id: str | None = None,
) -> vote.VoteRequest:
    partition = vote.RequestPartitionData(
        partition_index=0,
        replica_epoch=epoch,
        replica_id=sender.id,
        replica_directory_id=sender.directory_id,
        voter_directory_id=to.directory_id,
        last_offset_epoch=end.epoch,
        last_offset=end.offset,
        pre_vote=pre_vote,
    )
    topic = vote.RequestTopicData(topic_name=TOPIC, partitions=[partition])
    return vote.VoteRequest(cluster_id=cluster_id, voter_id=to.id, topics=[topic])


def begin_request(
    leader: ReplicaKey, epoch: int, *, to: ReplicaKey = NOBODY
) -> begin_quorum_epoch.BeginQuorumEpochRequest:
    partition = begin_quorum_epoch.RequestPartitionData(
        partition_index=0,
        voter_directory_id=to.directory_id,
        leader_id=leader.id,
        leader_epoch=epoch,
    )
    topic = begin_quorum_epoch.RequestTopicData(topic_name=TOPIC, partitions=[partition])
    endpoint = begin_quorum_epoch.LeaderEndpoint(name="CONTROLLER", host=f"n{leader.id}", port=9093)
    return begin_quorum_epoch.BeginQuorumEpochRequest(
        voter_id=to.id, topics=[topic], leader_endpoints=[endpoint]
    )


def end_request(
    leader: ReplicaKey, epoch: int, *successors: ReplicaKey
) -> end_quorum_epoch.EndQuorumEpochRequest:
    partition = end_quorum_epoch.RequestPartitionData(
        partition_index=0,
        leader_id=leader.id,
        leader_epoch=epoch,
        preferred_candidates=[
            end_quorum_epoch.ReplicaInfo(
                candidate_id=key.id, candidate_directory_id=key.directory_id
            )
            for key in successors
        ],
    )
    topic = end_quorum_epoch.RequestTopicData(topic_name=TOPIC, partitions=[partition])
    return end_quorum_epoch.EndQuorumEpochRequest(topics=[topic])


def fetch_request(
    sender: ReplicaKey, epoch: int, end: OffsetAndEpoch, *, max_wait_ms: int = 0
) -> fetch.FetchRequest:
    partition = fetch.FetchPartition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=end.offset,
        last_fetched_epoch=end.epoch,
        partition_max_bytes=1 << 20,
        replica_directory_id=sender.directory_id,
    )
    return fetch.FetchRequest(
        replica_state=fetch.ReplicaState(replica_id=sender.id),
        max_wait_ms=max_wait_ms,
        min_bytes=0,
        topics=[fetch.FetchTopic(topic_id=TOPIC_ID, partitions=[partition])],
    )


def vote_answer(epoch: int, *, granted: bool) -> vote.VoteResponse:
    partition = vote.ResponsePartitionData(
        partition_index=0, error_code=0, leader_id=-1, leader_epoch=epoch, vote_granted=granted
    )
    topic = vote.ResponseTopicData(topic_name=TOPIC, partitions=[partition])
    return vote.VoteResponse(error_code=0, topics=[topic])


def fetch_answer(
    leader: ReplicaKey, epoch: int, records: Buffer = b"", high_watermark: int = -1
) -> fetch.FetchResponse:
    partition = fetch.PartitionData(
        partition_index=0,
        error_code=0,
        high_watermark=high_watermark,
        current_leader=fetch.LeaderIdAndEpoch(leader_id=leader.id, leader_epoch=epoch),
        aborted_transactions=None,
        records=records,
    )
    topic = fetch.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[partition])
    return fetch.FetchResponse(throttle_time_ms=0, error_code=0, responses=[topic])
