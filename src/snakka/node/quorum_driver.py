"""Runs this node's replica of the metadata quorum: time, disk and waiting around the pure core.

After every event the core says what is to be done (quorum/ready.py), and it is done in that order.
Syncs of the log run in a thread, one at a time; what is appended meanwhile shares the next one.
Committed records are handed to `on_committed` in order, and before anybody who submitted them is
told.

Not here: requests to other replicas. With more than one voter they will go through net/peer.py;
until then a quorum has one voter, and a request that the core wants to send fails at once.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Final, NamedTuple

from snakka.metadata.image import Provenance
from snakka.node.election_file import write_election
from snakka.node.metadata_follower import Committed
from snakka.node.metadata_log import MetadataLog
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.batch import Batch, batches
from snakka.quorum.ready import Flush
from snakka.quorum.replica import NotLeaderError, QuorumReplica
from snakka.storage.disk import Disk

log = logging.getLogger(__name__)

_READ_BYTES: Final = 4 * 1024 * 1024


class _Submission(NamedTuple):
    """Somebody who waits for records to be committed."""

    last_offset: int
    epoch: int
    done: asyncio.Future[None]


class QuorumDriver:
    """An async context manager: inside, the replica takes part in its quorum."""

    def __init__(
        self,
        replica: QuorumReplica,
        metadata_log: MetadataLog,
        snapshots: SnapshotFiles,
        disk: Disk,
        election_path: str,
        *,
        now_ms: Callable[[], int],
        on_committed: Callable[[Committed], None],
        on_snapshot: Callable[[Iterator[bytes], Provenance], None],
        on_leadership: Callable[[int | None], None],
    ) -> None:
        self._replica = replica
        self._log = metadata_log
        self._snapshots = snapshots
        self._disk = disk
        self._election_path = election_path
        self._now_ms = now_ms
        self._on_committed = on_committed
        self._on_snapshot = on_snapshot
        self._on_leadership = on_leadership
        self._applied_offset = 0
        self._has_started = False
        self._led_epoch: int | None = None
        self._submissions: deque[_Submission] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._flushes: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "QuorumDriver":
        self._loop = asyncio.get_running_loop()
        self._after_event()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        while self._flushes:
            await asyncio.gather(*self._flushes)
        self._end_submissions()
        self._log.log.shut_down()

    @property
    def is_leader(self) -> bool:
        return self._replica.is_leader

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._log.end.offset

    def submit(self, records: Sequence[bytes]) -> asyncio.Future[None]:
        """Appends records as one batch; done once they are committed, and applied here."""
        submitted = self._replica.submit(records, self._now_ms())
        done = self._loop.create_future()
        self._submissions.append(_Submission(submitted.last_offset, submitted.epoch, done))
        self._after_event()
        return done

    def _after_event(self) -> None:
        """Does what the core asks for, until it asks for nothing more."""
        while ready := self._replica.take_ready():
            if ready.election is not None:
                write_election(self._disk, self._election_path, ready.election)
            for request in ready.requests:
                self._replica.fail(
                    request.correlation_id, ErrorCode.NETWORK_EXCEPTION, self._now_ms()
                )
            if ready.flush is not None:
                task = self._loop.create_task(self._flush(ready.flush))
                self._flushes.add(task)
                task.add_done_callback(self._flushes.discard)
        self._apply_committed()
        self._tell_leadership()
        self._set_timer()

    async def _flush(self, flush: Flush) -> None:
        unflushed = self._log.log.begin_flush()
        if unflushed is not None:
            await asyncio.to_thread(unflushed.sync, self._disk)
            self._log.log.end_flush(unflushed)
        self._replica.flushed(flush, self._now_ms())
        self._after_event()

    def _apply_committed(self) -> None:
        committed = self._replica.high_watermark or 0
        self._apply_snapshot()
        while self._applied_offset < committed:
            data = self._log.read(self._applied_offset, _READ_BYTES)
            for batch in batches(data):
                if batch.header.next_offset > committed:
                    return
                self._on_committed(_committed(batch))
                self._applied_offset = batch.header.next_offset
                self._finish_submissions()

    def _apply_snapshot(self) -> None:
        """At the start, and when the leader had a snapshot for us instead of the log."""
        latest = self._snapshots.latest()
        if self._has_started and self._applied_offset >= self._log.start_offset:
            return
        self._has_started = True
        if latest is None:
            return
        last = Provenance(
            latest.offset - 1, latest.epoch, self._snapshots.last_timestamp_ms(latest)
        )
        self._on_snapshot(self._snapshots.values(latest), last)
        self._applied_offset = latest.offset

    def _finish_submissions(self) -> None:
        waiting = self._submissions
        while waiting and waiting[0].last_offset < self._applied_offset:
            submission = waiting.popleft()
            if submission.epoch == self._replica.epoch and not submission.done.done():
                submission.done.set_result(None)

    def _tell_leadership(self) -> None:
        """A leader is told of once everything before its epoch is applied."""
        epoch = self._replica.epoch if self._replica.is_leader else None
        is_behind = self._applied_offset < self._log.end.offset
        if epoch is not None and self._led_epoch is None and is_behind:
            return
        if epoch != self._led_epoch:
            self._led_epoch = epoch
            if epoch is None:
                self._end_submissions()
            self._on_leadership(epoch)

    def _end_submissions(self) -> None:
        while self._submissions:
            submission = self._submissions.popleft()
            if not submission.done.done():
                submission.done.set_exception(NotLeaderError())

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now_ms = self._now_ms()
        deadline_ms = self._replica.next_deadline_ms(now_ms)
        if deadline_ms is not None:
            delay_s = max(0, deadline_ms - now_ms) / 1000
            self._timer = self._loop.call_later(delay_s, self._tick)

    def _tick(self) -> None:
        self._replica.tick(self._now_ms())
        self._after_event()


def _committed(batch: Batch) -> Committed:
    header = batch.header
    values = [] if header.is_control else [record.value or b"" for record in batch.records()]
    last = Provenance(header.last_offset, header.leader_epoch, header.max_timestamp)
    return Committed(values, last, len(batch.data))
