"""FetchSnapshot, as the leader answers it: bytes of a snapshot from a position on (KIP-630)."""

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RequestPartitionSnapshot,
)
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from snakka.quorum.quorum import Quorum
from snakka.quorum.ready import Inbound
from snakka.quorum.replies import PARTITION, TOPIC, fetch_snapshot_reply
from snakka.quorum.serving import check_leader, note_fetch
from snakka.quorum.voters import ReplicaKey


def handle_fetch_snapshot(
    quorum: Quorum, inbound: Inbound, request: FetchSnapshotRequest, now_ms: int
) -> None:
    error = ErrorCode.NONE
    partition = _find_partition(request)
    if request.cluster_id not in (None, quorum.local.cluster_id):
        error = ErrorCode.INCONSISTENT_CLUSTER_ID
    elif partition is None:
        error = ErrorCode.INVALID_REQUEST
    if partition is None or error is not ErrorCode.NONE:
        failed = FetchSnapshotResponse(throttle_time_ms=0, error_code=error, topics=[])
        quorum.reply(inbound, failed)
        return
    quorum.reply(inbound, _chunk(quorum, inbound, request, partition))
    # Voters that fetch a snapshot are there, even if it takes them long.
    if check_leader(quorum, partition.current_leader_epoch) is ErrorCode.NONE:
        key = ReplicaKey(request.replica_id, partition.replica_directory_id)
        note_fetch(quorum, key, None, now_ms)


def _find_partition(request: FetchSnapshotRequest) -> RequestPartitionSnapshot | None:
    if [topic.name for topic in request.topics] != [TOPIC]:
        return None
    partitions = request.topics[0].partitions
    return partitions[0] if [each.partition for each in partitions] == [PARTITION] else None


def _chunk(
    quorum: Quorum,
    inbound: Inbound,
    request: FetchSnapshotRequest,
    partition: RequestPartitionSnapshot,
) -> FetchSnapshotResponse:
    snapshot_id = OffsetAndEpoch(partition.snapshot_id.end_offset, partition.snapshot_id.epoch)
    error = check_leader(quorum, partition.current_leader_epoch)
    if error is not ErrorCode.NONE:
        return fetch_snapshot_reply(quorum, inbound, error, snapshot_id)
    size_bytes = quorum.snapshots.find_size_bytes(snapshot_id)
    if size_bytes is None or snapshot_id == BOOTSTRAP_SNAPSHOT:
        return fetch_snapshot_reply(quorum, inbound, ErrorCode.SNAPSHOT_NOT_FOUND, snapshot_id)
    if not 0 <= partition.position < size_bytes:
        return fetch_snapshot_reply(quorum, inbound, ErrorCode.POSITION_OUT_OF_RANGE, snapshot_id)
    max_bytes = max(1, min(request.max_bytes, quorum.config.fetch_snapshot_max_bytes))
    return fetch_snapshot_reply(
        quorum,
        inbound,
        ErrorCode.NONE,
        snapshot_id,
        size_bytes=size_bytes,
        position=partition.position,
        chunk=quorum.snapshots.read(snapshot_id, partition.position, max_bytes),
    )
