"""Fetch, as a follower or one who looks for a leader sends it, and what it does with the answer.

Records are checked before they are appended: whole, unharmed, in place, and of no epoch that the
leader cannot have. A log that diverges is cut back to where the leader says the epochs agree.

Not here: answering (serving.py), the snapshot's chunks (snapshot_fetching.py).
"""

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError
from snakka.protocol.messages.fetch import EpochEndOffset, FetchResponse, PartitionData
from snakka.protocol.records.batch import batches
from snakka.protocol.types import Buffer
from snakka.quorum.hints import has_partition, leader_hint, settle
from snakka.quorum.ports import OffsetAndEpoch, QuorumLog
from snakka.quorum.quorum import Quorum
from snakka.quorum.role import Download, Follower


def handle_fetch_response(quorum: Quorum, response: FetchResponse, now_ms: int) -> bool:
    """Whether the answer was of use."""
    if response.error_code != ErrorCode.NONE or not has_partition(response.responses):
        return False
    partition = response.responses[0].partitions[0]
    current = partition.current_leader
    hint = leader_hint(quorum, current.leader_id, current.leader_epoch, response.node_endpoints)
    if not settle(quorum, partition.error_code, hint, now_ms):
        return False
    role = quorum.role
    if not isinstance(role, Follower) or not _take(quorum, role, partition):
        return False
    note_answer(quorum, role, now_ms)
    return True


def note_answer(quorum: Quorum, role: Follower, now_ms: int) -> None:
    role.has_fetched = True
    role.fetch_deadline_ms = now_ms + quorum.config.fetch_timeout_ms


def _take(quorum: Quorum, role: Follower, partition: PartitionData) -> bool:
    snapshot_id = partition.snapshot_id
    if partition.diverging_epoch.epoch >= 0:
        quorum.truncate(truncation_offset(quorum.log, partition.diverging_epoch))
    elif snapshot_id.epoch >= 0 and snapshot_id.end_offset >= 0:
        role.download = Download(OffsetAndEpoch(snapshot_id.end_offset, snapshot_id.epoch))
    else:
        records = partition.records
        if records:
            if not isinstance(records, bytes | bytearray | memoryview):
                raise TypeError("a response that came in has its records in memory")
            if not _append(quorum, records):
                return False
        _learn_high_watermark(quorum, partition.high_watermark)
    return True


def truncation_offset(log: QuorumLog, diverging: EpochEndOffset) -> int:
    """Where to cut: the end of the last epoch that both logs have, in whichever it ends first."""
    ours = log.epoch_end(diverging.epoch)
    if ours.epoch == diverging.epoch:
        return min(ours.offset, diverging.end_offset)
    return ours.offset


def _append(quorum: Quorum, records: Buffer) -> bool:
    """Appends the whole batches of an answer, if all of them continue this log."""
    end = quorum.log.end
    size_bytes = 0
    try:
        for batch in batches(records, ignore_partial_tail=True):
            batch.verify_crc()
            header = batch.header
            epochs = range(end.epoch, quorum.epoch + 1)
            if header.base_offset != end.offset or header.leader_epoch not in epochs:
                return False
            end = OffsetAndEpoch(header.next_offset, header.leader_epoch)
            size_bytes += header.size_bytes
    except MalformedError:
        return False
    if not size_bytes:
        return False
    quorum.append(bytes(memoryview(records)[:size_bytes]))
    return True


def _learn_high_watermark(quorum: Quorum, leader_high_watermark: int) -> None:
    """A leader that is new may not know yet how far its predecessor had come."""
    if leader_high_watermark >= 0:
        quorum.advance_high_watermark(min(leader_high_watermark, quorum.log.end.offset))
