"""The answers to the quorum's requests: one topic with one partition, the leader, and its endpoint.

An answer in a version without a field leaves it out, as the codec would refuse it.
"""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Final, TypeVar

from snakka.protocol.error_codes import ErrorCode
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
from snakka.protocol.schema import Request, Response, Struct
from snakka.protocol.types import ONE_UUID, Buffer
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Inbound
from snakka.quorum.role import Follower, Leader, Resigned
from snakka.quorum.voters import Endpoint

TOPIC: Final = "__cluster_metadata"
TOPIC_ID: Final = ONE_UUID
PARTITION: Final = 0
_NO_LEADER: Final = -1
_QUORUM_FETCH_VERSION: Final = 12  # the first that can be used to replicate; others get an error

_Node = TypeVar("_Node", bound=Struct)


def find_leader_endpoint(quorum: Quorum) -> Endpoint | None:
    """Where the leader of this epoch is, if there is one."""
    match quorum.role:
        case Leader() | Resigned():
            endpoints = quorum.local.endpoints
        case Follower(leader_endpoints=endpoints):
            pass
        case _:
            endpoints = ()
    name = quorum.local.listener_name
    found = next((each for each in endpoints if each.name == name), None)
    if found is None and quorum.leader_id is not None:
        return quorum.voters.find_endpoint(quorum.leader_id, name)
    return found


def _leader_id(quorum: Quorum) -> int:
    return _NO_LEADER if quorum.leader_id is None else quorum.leader_id


def _node_endpoints(
    quorum: Quorum, inbound: Inbound, node: type[_Node], *, since: int
) -> list[_Node]:
    endpoint = find_leader_endpoint(quorum)
    if endpoint is None or inbound.version < since:
        return []
    return [node(node_id=_leader_id(quorum), host=endpoint.host, port=endpoint.port)]


def vote_reply(
    quorum: Quorum, inbound: Inbound, error: ErrorCode, *, granted: bool = False
) -> vote.VoteResponse:
    partition = vote.ResponsePartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=_leader_id(quorum),
        leader_epoch=quorum.epoch,
        vote_granted=granted,
    )
    return vote.VoteResponse(
        error_code=ErrorCode.NONE,
        topics=[vote.ResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_node_endpoints(quorum, inbound, vote.NodeEndpoint, since=1),
    )


def begin_reply(
    quorum: Quorum, inbound: Inbound, error: ErrorCode
) -> begin_quorum_epoch.BeginQuorumEpochResponse:
    partition = begin_quorum_epoch.ResponsePartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=_leader_id(quorum),
        leader_epoch=quorum.epoch,
    )
    return begin_quorum_epoch.BeginQuorumEpochResponse(
        error_code=ErrorCode.NONE,
        topics=[begin_quorum_epoch.ResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_node_endpoints(quorum, inbound, begin_quorum_epoch.NodeEndpoint, since=1),
    )


def end_reply(
    quorum: Quorum, inbound: Inbound, error: ErrorCode
) -> end_quorum_epoch.EndQuorumEpochResponse:
    partition = end_quorum_epoch.ResponsePartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=_leader_id(quorum),
        leader_epoch=quorum.epoch,
    )
    return end_quorum_epoch.EndQuorumEpochResponse(
        error_code=ErrorCode.NONE,
        topics=[end_quorum_epoch.ResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_node_endpoints(quorum, inbound, end_quorum_epoch.NodeEndpoint, since=1),
    )


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch of an epoch's leader gets: records, or where to go on instead."""

    records: Buffer = b""
    diverging: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None


def fetch_reply(quorum: Quorum, inbound: Inbound, fetched: Fetched) -> fetch.FetchResponse:
    return _fetch_reply(quorum, inbound, ErrorCode.NONE, fetched)


def fetch_error(quorum: Quorum, inbound: Inbound, error: ErrorCode) -> fetch.FetchResponse:
    return _fetch_reply(quorum, inbound, error, Fetched())


def _fetch_reply(
    quorum: Quorum, inbound: Inbound, error: ErrorCode, fetched: Fetched
) -> fetch.FetchResponse:
    diverging, snapshot_id = fetched.diverging, fetched.snapshot_id
    is_leader = isinstance(quorum.role, Leader) and error is ErrorCode.NONE
    high_watermark = quorum.high_watermark if is_leader else None
    partition = fetch.PartitionData(
        partition_index=PARTITION,
        error_code=error,
        high_watermark=-1 if high_watermark is None else high_watermark,
        log_start_offset=quorum.log.start_offset,
        current_leader=fetch.LeaderIdAndEpoch()
        if inbound.version < _QUORUM_FETCH_VERSION
        else fetch.LeaderIdAndEpoch(leader_id=_leader_id(quorum), leader_epoch=quorum.epoch),
        diverging_epoch=fetch.EpochEndOffset()
        if diverging is None
        else fetch.EpochEndOffset(epoch=diverging.epoch, end_offset=diverging.offset),
        snapshot_id=fetch.SnapshotId()
        if snapshot_id is None
        else fetch.SnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch),
        aborted_transactions=None,
        records=fetched.records,
    )
    topic = fetch.FetchableTopicResponse(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])
    return fetch.FetchResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        responses=[topic],
        node_endpoints=_node_endpoints(quorum, inbound, fetch.NodeEndpoint, since=16),
    )


def fetch_snapshot_reply(
    quorum: Quorum,
    inbound: Inbound,
    error: ErrorCode,
    snapshot_id: OffsetAndEpoch,
    *,
    size_bytes: int = 0,
    position: int = 0,
    chunk: Buffer | Sized = b"",
) -> fetch_snapshot.FetchSnapshotResponse:
    partition = fetch_snapshot.ResponsePartitionSnapshot(
        index=PARTITION,
        error_code=error,
        snapshot_id=fetch_snapshot.SnapshotId(
            end_offset=snapshot_id.offset, epoch=snapshot_id.epoch
        ),
        current_leader=fetch_snapshot.LeaderIdAndEpoch(
            leader_id=_leader_id(quorum), leader_epoch=quorum.epoch
        ),
        size=size_bytes,
        position=position,
        unaligned_records=chunk,
    )
    return fetch_snapshot.FetchSnapshotResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        topics=[fetch_snapshot.ResponseTopicSnapshot(name=TOPIC, partitions=[partition])],
        node_endpoints=_node_endpoints(quorum, inbound, fetch_snapshot.NodeEndpoint, since=1),
    )


def voter_change_reply(request: Request, error: ErrorCode, message: str | None = None) -> Response:
    """Answers the two requests that wait for their change; UpdateRaftVoter has its own answer."""
    if error is not ErrorCode.NONE and message is None:
        message = error.message
    if isinstance(request, add_raft_voter.AddRaftVoterRequest):
        return add_raft_voter.AddRaftVoterResponse(
            throttle_time_ms=0, error_code=error, error_message=message
        )
    return remove_raft_voter.RemoveRaftVoterResponse(
        throttle_time_ms=0, error_code=error, error_message=message
    )


def update_voter_reply(
    quorum: Quorum, error: ErrorCode
) -> update_raft_voter.UpdateRaftVoterResponse:
    endpoint = find_leader_endpoint(quorum)
    return update_raft_voter.UpdateRaftVoterResponse(
        throttle_time_ms=0,
        error_code=error,
        current_leader=update_raft_voter.CurrentLeader(
            leader_id=_leader_id(quorum),
            leader_epoch=quorum.epoch,
            host="" if endpoint is None else endpoint.host,
            port=0 if endpoint is None else endpoint.port,
        ),
    )
