"""The requests of the quorum that this replica sends, as its state says."""

from collections.abc import Iterable

from snakka.protocol.messages import (
    add_raft_voter,
    begin_quorum_epoch,
    end_quorum_epoch,
    fetch,
    fetch_snapshot,
    remove_raft_voter,
    update_raft_voter,
    vote,
)
from snakka.protocol.types import Uuid
from snakka.quorum.peers import Node
from snakka.quorum.quorum import Quorum
from snakka.quorum.replies import PARTITION, TOPIC, TOPIC_ID
from snakka.quorum.role import Download
from snakka.quorum.voters import Endpoint, ReplicaKey, Voter


def find_node(quorum: Quorum, replica_id: int, endpoints: Iterable[Endpoint]) -> Node | None:
    """Where to reach a replica on the listener that the quorum uses."""
    name = quorum.local.listener_name
    found = next((each for each in endpoints if each.name == name), None)
    return None if found is None else Node(replica_id, found.host, found.port)


def find_voter_node(quorum: Quorum, voter: Voter) -> Node | None:
    return find_node(quorum, voter.key.id, voter.endpoints)


def vote_request(quorum: Quorum, voter: ReplicaKey, *, pre_vote: bool) -> vote.VoteRequest:
    own, end = quorum.local.key, quorum.log.end
    partition = vote.RequestPartitionData(
        partition_index=PARTITION,
        replica_epoch=quorum.epoch,
        replica_id=own.id,
        replica_directory_id=own.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=end.epoch,
        last_offset=end.offset,
        pre_vote=pre_vote,
    )
    return vote.VoteRequest(
        cluster_id=quorum.local.cluster_id,
        voter_id=voter.id,
        topics=[vote.RequestTopicData(topic_name=TOPIC, partitions=[partition])],
    )


def begin_request(quorum: Quorum, voter: ReplicaKey) -> begin_quorum_epoch.BeginQuorumEpochRequest:
    partition = begin_quorum_epoch.RequestPartitionData(
        partition_index=PARTITION,
        voter_directory_id=voter.directory_id,
        leader_id=quorum.local.key.id,
        leader_epoch=quorum.epoch,
    )
    return begin_quorum_epoch.BeginQuorumEpochRequest(
        cluster_id=quorum.local.cluster_id,
        voter_id=voter.id,
        topics=[begin_quorum_epoch.RequestTopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[
            begin_quorum_epoch.LeaderEndpoint(name=each.name, host=each.host, port=each.port)
            for each in quorum.local.endpoints
        ],
    )


def end_request(
    quorum: Quorum, successors: Iterable[ReplicaKey]
) -> end_quorum_epoch.EndQuorumEpochRequest:
    partition = end_quorum_epoch.RequestPartitionData(
        partition_index=PARTITION,
        leader_id=quorum.local.key.id,
        leader_epoch=quorum.epoch,
        preferred_successors=[key.id for key in successors],
        preferred_candidates=[
            end_quorum_epoch.ReplicaInfo(
                candidate_id=key.id, candidate_directory_id=key.directory_id
            )
            for key in successors
        ],
    )
    return end_quorum_epoch.EndQuorumEpochRequest(
        cluster_id=quorum.local.cluster_id,
        topics=[end_quorum_epoch.RequestTopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[
            end_quorum_epoch.LeaderEndpoint(name=each.name, host=each.host, port=each.port)
            for each in quorum.local.endpoints
        ],
    )


def fetch_request(quorum: Quorum) -> fetch.FetchRequest:
    own, end = quorum.local.key, quorum.log.end
    high_watermark = quorum.high_watermark
    partition = fetch.FetchPartition(
        partition=PARTITION,
        current_leader_epoch=quorum.epoch,
        fetch_offset=end.offset,
        last_fetched_epoch=end.epoch,
        partition_max_bytes=quorum.config.fetch_max_bytes,
        replica_directory_id=own.directory_id,
        high_watermark=-1 if high_watermark is None else high_watermark,
    )
    return fetch.FetchRequest(
        cluster_id=quorum.local.cluster_id,
        replica_state=fetch.ReplicaState(replica_id=own.id),
        max_wait_ms=quorum.config.fetch_max_wait_ms,
        min_bytes=0,
        max_bytes=quorum.config.fetch_max_bytes,
        topics=[fetch.FetchTopic(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])],
    )


def fetch_snapshot_request(
    quorum: Quorum, download: Download
) -> fetch_snapshot.FetchSnapshotRequest:
    partition = fetch_snapshot.RequestPartitionSnapshot(
        partition=PARTITION,
        current_leader_epoch=quorum.epoch,
        snapshot_id=fetch_snapshot.SnapshotId(
            end_offset=download.snapshot_id.offset, epoch=download.snapshot_id.epoch
        ),
        position=download.position,
        replica_directory_id=quorum.local.key.directory_id,
    )
    return fetch_snapshot.FetchSnapshotRequest(
        cluster_id=quorum.local.cluster_id,
        replica_id=quorum.local.key.id,
        max_bytes=quorum.config.fetch_snapshot_max_bytes,
        topics=[fetch_snapshot.RequestTopicSnapshot(name=TOPIC, partitions=[partition])],
    )


def update_voter_request(quorum: Quorum) -> update_raft_voter.UpdateRaftVoterRequest:
    local = quorum.local
    return update_raft_voter.UpdateRaftVoterRequest(
        cluster_id=local.cluster_id,
        current_leader_epoch=quorum.epoch,
        voter_id=local.key.id,
        voter_directory_id=local.key.directory_id,
        listeners=[
            update_raft_voter.Listener(name=each.name, host=each.host, port=each.port)
            for each in local.endpoints
        ],
        kraft_version_feature=update_raft_voter.KRaftVersionFeature(
            min_supported_version=local.kraft_versions.first,
            max_supported_version=local.kraft_versions.last,
        ),
    )


def add_voter_request(quorum: Quorum) -> add_raft_voter.AddRaftVoterRequest:
    """Asks to be a voter, and to be told when that is written: it shows in the log when it is."""
    local = quorum.local
    return add_raft_voter.AddRaftVoterRequest(
        cluster_id=local.cluster_id,
        timeout_ms=quorum.config.request_timeout_ms,
        voter_id=local.key.id,
        voter_directory_id=local.key.directory_id,
        listeners=[
            add_raft_voter.Listener(name=each.name, host=each.host, port=each.port)
            for each in local.endpoints
        ],
        ack_when_committed=False,
    )


def remove_voter_request(
    quorum: Quorum, voter_id: int, directory_id: Uuid
) -> remove_raft_voter.RemoveRaftVoterRequest:
    return remove_raft_voter.RemoveRaftVoterRequest(
        cluster_id=quorum.local.cluster_id, voter_id=voter_id, voter_directory_id=directory_id
    )
