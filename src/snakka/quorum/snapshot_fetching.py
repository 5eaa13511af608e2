"""FetchSnapshot, as a follower sends it: a snapshot in chunks, then the log after it (KIP-630).

Not here: reading what is in the snapshot (the driver does, once the log starts after it).
"""

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.fetch_snapshot import (
    FetchSnapshotResponse,
    ResponsePartitionSnapshot,
)
from snakka.quorum.following import note_answer
from snakka.quorum.hints import has_partition, leader_hint, settle
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import Quorum
from snakka.quorum.role import Download, Follower


def handle_fetch_snapshot_response(
    quorum: Quorum, response: FetchSnapshotResponse, now_ms: int
) -> bool:
    """Whether the answer was of use. What does not fit ends the download: the next fetch tells."""
    if response.error_code != ErrorCode.NONE or not has_partition(response.topics):
        return False
    partition = response.topics[0].partitions[0]
    current = partition.current_leader
    hint = leader_hint(quorum, current.leader_id, current.leader_epoch, response.node_endpoints)
    is_good = settle(quorum, partition.error_code, hint, now_ms)
    role = quorum.role
    if not isinstance(role, Follower) or role.download is None:
        return False
    if not is_good or not _take_chunk(quorum, role, role.download, partition):
        role.download = None
        return False
    note_answer(quorum, role, now_ms)
    return True


def _take_chunk(
    quorum: Quorum, role: Follower, download: Download, partition: ResponsePartitionSnapshot
) -> bool:
    chunk = partition.unaligned_records
    snapshot_id = OffsetAndEpoch(partition.snapshot_id.end_offset, partition.snapshot_id.epoch)
    if not isinstance(chunk, bytes | bytearray | memoryview) or not chunk:
        return False
    if snapshot_id != download.snapshot_id or partition.position != download.position:
        return False
    quorum.snapshots.write(snapshot_id, download.position, chunk)
    download.position += len(chunk)
    if download.position >= partition.size:
        role.download = None
        _install(quorum, snapshot_id)
    return True


def _install(quorum: Quorum, snapshot_id: OffsetAndEpoch) -> None:
    if quorum.is_committed(snapshot_id.offset - 1):
        return  # the log has come further than this by other means
    quorum.snapshots.complete(snapshot_id)
    quorum.restart_after(snapshot_id)
