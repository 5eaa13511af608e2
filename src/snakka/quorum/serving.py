"""Fetch, as the leader answers it: records, or where the fetching log differs; and what a fetch
tells about the one who fetches.

KIP-595 divergence by epochs, KIP-630 snapshots, KIP-1166 answers that bring a higher high
watermark. A fetch with nothing to get is parked; a replica has one parked at the most.

Not here: sending fetches (following.py), the arithmetic of progress (progress.py).
"""

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse
from snakka.quorum.majority import has_majority
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Inbound
from snakka.quorum.replies import (
    PARTITION,
    TOPIC,
    TOPIC_ID,
    Fetched,
    fetch_error,
    fetch_reply,
)
from snakka.quorum.role import Leader, ParkedFetch
from snakka.quorum.transitions import check_quorum_timeout_ms
from snakka.quorum.voters import ReplicaKey


def handle_fetch(quorum: Quorum, inbound: Inbound, request: FetchRequest, now_ms: int) -> None:
    if request.cluster_id not in (None, quorum.local.cluster_id):
        failed = ErrorCode.INCONSISTENT_CLUSTER_ID
        quorum.reply(inbound, FetchResponse(throttle_time_ms=0, error_code=failed, responses=[]))
        return
    partition = _find_partition(request)
    if partition is None:
        failed = ErrorCode.INVALID_REQUEST
        quorum.reply(inbound, FetchResponse(throttle_time_ms=0, error_code=failed, responses=[]))
        return
    error = _check(quorum, request, partition)
    if error is not ErrorCode.NONE:
        quorum.reply(inbound, fetch_error(quorum, inbound, error))
        return
    replica_id = request.replica_state.replica_id if inbound.version >= 15 else request.replica_id
    parked = ParkedFetch(
        inbound,
        partition,
        ReplicaKey(replica_id, partition.replica_directory_id),
        now_ms + request.max_wait_ms,
    )
    if not _answer(quorum, parked, now_ms):
        _park(quorum, parked)


def _find_partition(request: FetchRequest) -> FetchPartition | None:
    named = [(each.topic, each.topic_id) for each in request.topics]
    if len(named) != 1 or (named[0][0] != TOPIC and named[0][1] != TOPIC_ID):
        return None
    partitions = request.topics[0].partitions
    return partitions[0] if [each.partition for each in partitions] == [PARTITION] else None


def _check(quorum: Quorum, request: FetchRequest, partition: FetchPartition) -> ErrorCode:
    last_epoch = partition.last_fetched_epoch
    if min(request.max_wait_ms, partition.fetch_offset, last_epoch) < 0:
        return ErrorCode.INVALID_REQUEST
    if last_epoch > partition.current_leader_epoch:
        return ErrorCode.INVALID_REQUEST
    return check_leader(quorum, partition.current_leader_epoch)


def check_leader(quorum: Quorum, epoch: int) -> ErrorCode:
    """Whether this replica leads in the epoch that a request is meant for."""
    if epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > quorum.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if not isinstance(quorum.role, Leader):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE


def _answer(quorum: Quorum, parked: ParkedFetch, now_ms: int) -> bool:
    """Answers a fetch if there is something to say or no time left to wait."""
    partition = parked.partition
    fetched = _read(quorum, partition)
    if fetched.diverging is None and fetched.snapshot_id is None:
        note_fetch(quorum, parked.key, partition.fetch_offset, now_ms)
    news = fetched != Fetched() or (quorum.high_watermark or 0) > partition.high_watermark
    if not news and now_ms < parked.deadline_ms:
        return False
    quorum.reply(parked.inbound, fetch_reply(quorum, parked.inbound, fetched))
    return True


def _read(quorum: Quorum, partition: FetchPartition) -> Fetched:
    end = OffsetAndEpoch(partition.fetch_offset, partition.last_fetched_epoch)
    fetched = check_position(quorum, end)
    if fetched != Fetched() or end.offset >= quorum.log.end.offset:
        return fetched
    max_bytes = min(partition.partition_max_bytes, quorum.config.fetch_max_bytes)
    return Fetched(quorum.log.read(end.offset, max_bytes))


def check_position(quorum: Quorum, end: OffsetAndEpoch) -> Fetched:
    """Nothing if a log that ends there is the beginning of ours; else where it has to go on."""
    log, latest = quorum.log, quorum.snapshots.latest()
    if end.offset == 0:
        # One that has nothing is better off with a snapshot than with all of the log.
        has_one = latest is not None and latest != BOOTSTRAP_SNAPSHOT
        return Fetched(snapshot_id=latest) if has_one else Fetched()
    start = log.starts_after
    if start.offset > 0:
        is_other = end.offset == start.offset and end.epoch != start.epoch
        if end.offset < start.offset or is_other or end.epoch < start.epoch:
            return Fetched(snapshot_id=latest)
    ours = log.epoch_end(end.epoch)
    if ours.epoch != end.epoch or ours.offset < end.offset:
        return Fetched(diverging=ours)
    return Fetched()


def note_fetch(quorum: Quorum, key: ReplicaKey, offset: int | None, now_ms: int) -> None:
    """What a fetch at `offset`, or of a snapshot, says: the replica lives and has that much."""
    leader = quorum.role
    if not isinstance(leader, Leader) or key.id < 0 or key.id == quorum.local.key.id:
        return
    voter = leader.replicas.find_voter(key)
    progress = voter
    if progress is None:
        progress = leader.replicas.observe(key, limit=quorum.config.observers_max)
    if progress is not None and offset is not None:
        progress.fetched(offset, quorum.log.end.offset, now_ms)
    if voter is not None:
        _note_voter(quorum, leader, voter.key, now_ms)


def _note_voter(quorum: Quorum, leader: Leader, key: ReplicaKey, now_ms: int) -> None:
    leader.fetched.add(key)
    if has_quorum(quorum, leader):
        leader.fetched.clear()
        leader.check_quorum_deadline_ms = now_ms + check_quorum_timeout_ms(quorum)


def has_quorum(quorum: Quorum, leader: Leader) -> bool:
    """Whether a majority of the voters has fetched, the leader itself included if it votes."""
    voters = quorum.voters
    own = {voter.key for voter in voters.voters if voter.is_replica(quorum.local.key)}
    return has_majority(voters.keys, leader.fetched | own)


def _park(quorum: Quorum, parked: ParkedFetch) -> None:
    leader = quorum.role
    if not isinstance(leader, Leader) or len(leader.parked) > quorum.config.observers_max:
        quorum.reply(parked.inbound, fetch_reply(quorum, parked.inbound, Fetched()))
        return
    before = leader.parked.pop(parked.key, None)
    if before is not None:
        quorum.reply(before.inbound, fetch_reply(quorum, before.inbound, Fetched()))
    leader.parked[parked.key] = parked


def complete_parked(quorum: Quorum, leader: Leader, now_ms: int) -> None:
    """Answers the parked fetches that there is something for by now, or that time is up for."""
    end, high_watermark = quorum.log.end.offset, quorum.high_watermark or 0
    for key, parked in list(leader.parked.items()):
        partition = parked.partition
        has_news = partition.fetch_offset < end or partition.high_watermark < high_watermark
        if (has_news or parked.deadline_ms <= now_ms) and _answer(quorum, parked, now_ms):
            del leader.parked[key]
