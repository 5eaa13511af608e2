"""One replica: the log of a partition, and the part this broker plays for it.

Appends are staged and then written, several at once where a request brings several. Writing moves
the high watermark and wakes who waits for it. A transactional batch is refused unless the producer
has a transaction open here, or the coordinator has said that this partition is in it (KIP-890).

Not here: which replicas there are (replicas.py).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from snakka.protocol.records.batch import NO_SEQUENCE, BatchHeader, is_transactional
from snakka.protocol.types import Uuid
from snakka.replication.admission import TopicRules, admit
from snakka.replication.errors import FencedLeaderEpochError, NotLeaderError
from snakka.replication.parked import Waiters
from snakka.replication.partition import NO_LEADER_EPOCH, Assignment, Partition
from snakka.replication.verification import Verification, Verifications
from snakka.storage.epochs import EpochEndOffset
from snakka.storage.errors import OffsetOutOfRangeError
from snakka.storage.log import Log
from snakka.storage.log_state import Appended
from snakka.storage.lookup import find_aborted_transactions, find_upper_bound_offset
from snakka.storage.read import LogRead
from snakka.storage.transaction_index import AbortedTransaction
from snakka.storage.validate import AppendOrigin


class PartitionRead(NamedTuple):
    """What a fetch gets of one partition."""

    records: LogRead
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: list[AbortedTransaction] | None = None
    is_at_end: bool = False  # of what this reader may see
    diverging: EpochEndOffset | None = None  # where the reader's log and this one part


@dataclass(slots=True)
class Replica:
    """A partition on this broker."""

    topic: str
    topic_id: Uuid
    index: int
    log: Log
    partition: Partition
    rules: TopicRules
    waiters: Waiters = field(default_factory=Waiters)
    verifications: Verifications = field(default_factory=Verifications)

    def assign(self, assignment: Assignment) -> None:
        """Follows the metadata log."""
        if self.partition.assign(assignment):
            self.verifications.clear()
            self.waiters.fail(NotLeaderError(f"leader epoch {assignment.leader_epoch} has begun"))
        self._advance()

    def append_from_client(
        self, batch: bytearray | memoryview, *, needs_all: bool, now_ms: int
    ) -> Appended:
        """Stages a producer's batch, whose bytes are written to."""
        self.partition.check_leader()
        if needs_all:
            self.partition.check_in_sync(self.rules.min_insync_replicas)
        return self._append(admit(batch, self.rules, now_ms), AppendOrigin.CLIENT, now_ms)

    def append_from_coordinator(
        self,
        batch: bytearray,
        *,
        now_ms: int,
        leader_epoch: int | None = None,
        transaction_version: int = 0,
    ) -> Appended:
        """Stages a coordinator's records, or a marker, which all replicas in sync are to have."""
        self.partition.check_leader()
        if leader_epoch not in (None, self.partition.assignment.leader_epoch):
            raise FencedLeaderEpochError(f"leader epoch {leader_epoch} is over")
        self.partition.check_in_sync(self.rules.min_insync_replicas)
        return self._append(batch, AppendOrigin.COORDINATOR, now_ms, transaction_version)

    def find_verification(self, header: BatchHeader) -> Verification | None:
        """What the coordinator has to vouch for before the batch is taken; None if nothing."""
        if not header.is_transactional or header.is_control or self._is_retry(header):
            return None
        return self.find_verification_of(
            header.producer_id, header.producer_epoch, header.base_sequence
        )

    def find_verification_of(
        self, producer_id: int, producer_epoch: int, sequence: int = NO_SEQUENCE
    ) -> Verification | None:
        """As for a batch of the producer, of which no more is known yet."""
        entry = self.log.producers.find(producer_id)
        if (
            entry is not None
            and entry.current_txn_first_offset is not None
            and entry.producer_epoch == producer_epoch
        ):
            return None
        return self.verifications.begin(producer_id, producer_epoch, sequence)

    def _append(
        self,
        batch: bytearray | memoryview,
        origin: AppendOrigin,
        now_ms: int,
        transaction_version: int = 0,
    ) -> Appended:
        header = BatchHeader.read(batch) if is_transactional(batch) else None
        needed = None if header is None else self.find_verification(header)
        if header is not None and needed is not None:
            needed.check(header)
        appended = self.log.append_as_leader(
            batch,
            leader_epoch=self.partition.assignment.leader_epoch,
            now_ms=now_ms,
            origin=origin,
            transaction_version=transaction_version,
        )
        if header is not None and not appended.is_duplicate:
            self.verifications.end(header.producer_id)
        return appended

    def _is_retry(self, header: BatchHeader) -> bool:
        """One that is in the log is answered, whatever has become of its transaction."""
        has_sequence = header.base_sequence != NO_SEQUENCE  # a coordinator's records have none
        return has_sequence and self.log.producers.find_duplicate(header) is not None

    def write(self) -> None:
        """Writes what is staged; readers see what is committed of it."""
        self.log.write_staged()
        self._advance()

    def on_follower_fetch(self, replica_id: int, fetch_offset: int) -> None:
        """A follower has everything before `fetch_offset`."""
        self.partition.on_follower_fetch(replica_id, fetch_offset)
        self._advance()

    def read(
        self,
        offset: int,
        *,
        max_bytes: int,
        current_leader_epoch: int = NO_LEADER_EPOCH,
        last_fetched_epoch: int = NO_LEADER_EPOCH,
        read_committed: bool,
        min_one_batch: bool,
    ) -> PartitionRead:
        """What a consumer may see from `offset` on."""
        self.partition.check_leader(current_leader_epoch)
        log = self.log
        last_stable_offset = log.last_stable_offset
        end = last_stable_offset if read_committed else log.high_watermark
        if last_fetched_epoch != NO_LEADER_EPOCH:
            diverging = self._find_divergence(offset, last_fetched_epoch)
            if diverging is not None:
                return PartitionRead(
                    LogRead(),
                    log.high_watermark,
                    last_stable_offset,
                    log.log_start_offset,
                    diverging=diverging,
                )
        records = log.read(offset, max_bytes=max_bytes, max_offset=end, min_one_batch=min_one_batch)
        aborted = self._aborted(offset, records) if read_committed else None
        return PartitionRead(
            records,
            log.high_watermark,
            last_stable_offset,
            log.log_start_offset,
            aborted,
            is_at_end=offset >= end,
        )

    def delete_records(self, offset: int) -> None:
        """Hides the records before `offset`."""
        if self.log.advance_log_start(offset):
            self.waiters.on_changed()

    def _find_divergence(self, offset: int, last_fetched_epoch: int) -> EpochEndOffset | None:
        """Whether a reader that stands at `offset` has other records before it (KIP-595)."""
        log = self.log
        found = log.epochs.find_end_offset(last_fetched_epoch, log.log_end_offset)
        if found is None or offset < log.log_start_offset:
            raise OffsetOutOfRangeError(offset, log.log_start_offset, log.log_end_offset)
        has_parted = found.epoch < last_fetched_epoch or found.end_offset < offset
        return found if has_parted else None

    def _aborted(self, offset: int, records: LogRead) -> list[AbortedTransaction]:
        if not records.runs:
            return []
        return find_aborted_transactions(
            self.log, offset, find_upper_bound_offset(self.log, records)
        )

    def _advance(self) -> None:
        if not self.partition.is_leader:
            return
        log = self.log
        before = log.high_watermark
        log.update_high_watermark(self.partition.high_watermark(log.log_end_offset))
        if log.high_watermark > before:
            self.waiters.on_high_watermark(log.high_watermark)
            self.waiters.on_changed()
