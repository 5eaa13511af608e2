"""What the simulated quorum replicates: a list of values, with snapshots of it."""

from dataclasses import dataclass, field

from snakka.protocol.records.batch import batches
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.protocol.types import Buffer
from snakka.quorum.snapshot_format import snapshot_footer, snapshot_header
from snakka.quorum.voter_history import VoterHistory
from tests.simulation.quorum_disk import QuorumDisk

_FIRST_OFFSET = 10  # of values in a snapshot, after its header


@dataclass(slots=True)
class ReplicatedList:
    """The values of all records up to an offset."""

    values: list[bytes] = field(default_factory=list)
    offset: int = 0

    def apply(self, disk: QuorumDisk, high_watermark: int) -> None:
        """Takes over what is committed, from the snapshot where the log starts after it."""
        if self.offset < disk.log.start_offset:
            latest = disk.snapshots.latest()
            assert latest is not None, "the log starts after a snapshot that is not there"
            self.values = read_values(disk.snapshots.complete_ones[latest])
            self.offset = latest.offset
        while self.offset < high_watermark:
            batch = disk.log.state.find(self.offset)
            assert batch is not None, f"no batch at {self.offset} to apply"
            self.values += read_values(batch.data)
            self.offset = batch.next_offset

    def snapshot(self, history: VoterHistory, end_offset: int, now_ms: int) -> bytes:
        data = snapshot_header(history, end_offset, last_contained_log_timestamp=0, now_ms=now_ms)
        if self.values:
            values = enumerate(self.values, _FIRST_OFFSET)
            data += build_batch([Record(offset, 0, None, value) for offset, value in values])
        return data + snapshot_footer(_FIRST_OFFSET + len(self.values), now_ms=now_ms)


def read_values(data: Buffer) -> list[bytes]:
    """The values in batches of a log or of a snapshot."""
    return [
        record.value or b""
        for batch in batches(data)
        if not batch.header.is_control
        for record in batch.records()
    ]
