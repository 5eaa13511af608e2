"""Messages and replicas in words, for transcripts."""

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from snakka.protocol.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from snakka.protocol.messages.end_quorum_epoch import (
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from snakka.protocol.messages.fetch import FetchRequest, FetchResponse
from snakka.protocol.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from snakka.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from snakka.protocol.messages.vote import VoteRequest, VoteResponse
from snakka.protocol.records.batch import batches
from snakka.protocol.schema import Message
from snakka.quorum.role import Follower
from tests.simulation.quorum_node import SimulatedNode


def state(node: SimulatedNode) -> str:
    """What a replica is, in one line."""
    if node.replica is None:
        return f"down, with a log to {node.disk.log.end}"
    quorum = node.replica.quorum
    role = type(quorum.role).__name__
    if isinstance(quorum.role, Follower):
        role += f" of n{quorum.leader_id}"
    committed = "" if quorum.high_watermark is None else f", committed to {quorum.high_watermark}"
    applied = " ".join(value.decode() for value in node.applied.values)
    return (
        f"{role} in epoch {quorum.epoch}, log to {quorum.log.end}{committed}"
        f", voters {' '.join(map(str, quorum.voters.ids))}"
        + (f", has {applied}" if applied else "")
    )


def phrase(message: Message | None) -> str:
    match message:
        case VoteRequest():
            asked = message.topics[0].partitions[0]
            kind = "pre-vote" if asked.pre_vote else "vote"
            end = f"{asked.last_offset}@{asked.last_offset_epoch}"
            return f"Vote: {kind} in epoch {asked.replica_epoch}? log to {end}"
        case VoteResponse():
            answer = message.topics[0].partitions[0]
            said = "granted" if answer.vote_granted else "refused"
            return f"Vote: {said} in epoch {answer.leader_epoch}{_error(answer.error_code)}"
        case FetchRequest():
            fetched = message.topics[0].partitions[0]
            end = f"{fetched.fetch_offset}@{fetched.last_fetched_epoch}"
            return f"Fetch: from {end} in epoch {fetched.current_leader_epoch}"
        case FetchResponse():
            return f"Fetch: {_fetched(message)}"
        case _:
            return _rare(message)


def _rare(message: Message | None) -> str:
    match message:
        case BeginQuorumEpochRequest():
            begun = message.topics[0].partitions[0]
            return f"BeginQuorumEpoch: n{begun.leader_id} leads epoch {begun.leader_epoch}"
        case EndQuorumEpochRequest():
            ended = message.topics[0].partitions[0]
            successors = " ".join(f"n{each}" for each in ended.preferred_successors)
            return f"EndQuorumEpoch: epoch {ended.leader_epoch} ends, successors {successors}"
        case FetchSnapshotRequest():
            asked = message.topics[0].partitions[0]
            snapshot_id = f"{asked.snapshot_id.end_offset}@{asked.snapshot_id.epoch}"
            return f"FetchSnapshot: {snapshot_id} from byte {asked.position}"
        case FetchSnapshotResponse():
            part = message.topics[0].partitions[0]
            end = part.position + len(part.unaligned_records)
            return f"FetchSnapshot: to byte {end} of {part.size}{_error(part.error_code)}"
        case AddRaftVoterRequest() | RemoveRaftVoterRequest():
            return f"{type(message).__name__.removesuffix('Request')}: {message.voter_id}"
        case AddRaftVoterResponse() | RemoveRaftVoterResponse():
            name = type(message).__name__.removesuffix("Response")
            return f"{name}: {message.error_message or 'done'}"
        case BeginQuorumEpochResponse() | EndQuorumEpochResponse():
            name = type(message).__name__.removesuffix("Response")
            return f"{name}: heard{_error(message.topics[0].partitions[0].error_code)}"
        case _:
            return type(message).__name__


def _fetched(response: FetchResponse) -> str:
    part = response.responses[0].partitions[0]
    if part.error_code:
        leader = part.current_leader
        led = f"n{leader.leader_id} leads" if leader.leader_id >= 0 else "no leader known"
        return f"{_error(part.error_code)[2:]}, {led} in epoch {leader.leader_epoch}"
    if part.diverging_epoch.epoch >= 0:
        return (
            f"diverging, agree up to {part.diverging_epoch.end_offset}@{part.diverging_epoch.epoch}"
        )
    if part.snapshot_id.epoch >= 0:
        return f"take snapshot {part.snapshot_id.end_offset}@{part.snapshot_id.epoch}"
    assert isinstance(part.records, bytes)
    ends = [f"{b.header.next_offset}@{b.header.leader_epoch}" for b in batches(part.records)]
    records = f"records to {ends[-1]}" if ends else "no records"
    return f"{records}, committed to {part.high_watermark}"


def _error(code: int) -> str:
    names = {each.value: each.name for each in ErrorCode}
    return f", {names[code]}" if code else ""
