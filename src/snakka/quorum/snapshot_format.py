"""What a metadata snapshot may be of, and how it begins and ends (KIP-630, KIP-853).

A snapshot is a file of batches whose offsets count from 0: first a control batch with the header
and, from kraft.version 1 on, version and voters at its end; then records; last the footer.

Not here: the records in between, and the file.
"""

from snakka.protocol.internal.kraft import SnapshotFooterRecord, SnapshotHeaderRecord
from snakka.protocol.schema import Message
from snakka.quorum.control_records import control_batch, kraft_version_record, voters_record
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.quorum import CommittedDataLossError, Quorum
from snakka.quorum.voter_history import VoterHistory


def snapshot_header(
    history: VoterHistory, end_offset: int, *, last_contained_log_timestamp: int, now_ms: int
) -> bytes:
    """The first batch of a snapshot of everything before `end_offset`."""
    messages: list[Message] = [
        SnapshotHeaderRecord(version=0, last_contained_log_timestamp=last_contained_log_timestamp)
    ]
    version = history.kraft_version_at(end_offset - 1)
    voters = history.voters_at(end_offset - 1)
    if version > 0 and voters is not None:
        messages += [kraft_version_record(version), voters_record(voters)]
    return control_batch(messages, base_offset=0, epoch=0, timestamp_ms=now_ms)


def snapshot_footer(base_offset: int, *, now_ms: int) -> bytes:
    """The last batch of a snapshot, whose records end before `base_offset`."""
    return control_batch(
        [SnapshotFooterRecord(version=0)], base_offset=base_offset, epoch=0, timestamp_ms=now_ms
    )


def check_snapshot(quorum: Quorum, snapshot_id: OffsetAndEpoch) -> None:
    """Refuses a snapshot that this log cannot have led to, or of what is not committed."""
    if not quorum.is_committed(snapshot_id.offset - 1):
        raise CommittedDataLossError(
            f"snapshot {snapshot_id} is ahead of the high watermark {quorum.high_watermark}"
        )
    ours = quorum.log.epoch_end(snapshot_id.epoch)
    if ours.epoch != snapshot_id.epoch or ours.offset < snapshot_id.offset:
        raise ValueError(f"snapshot {snapshot_id} is not of this log, which has {ours}")
