"""Runs this node's replica of the metadata quorum: time, disk and waiting around the pure core.

After every event the core says what is to be done (quorum/ready.py), and it is done in that order.
Syncs of the log run in a thread, one at a time; what is appended meanwhile shares the next one.
Committed records are handed to `on_committed` in order, and before anybody who submitted them is
told.

Requests of other nodes are answered in their own time; those to others go out through `send`.

Not here: connections (quorum_peers.py).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, NamedTuple, cast

from snakka.apis.context import QuorumFacts
from snakka.client.errors import ClientError, UnsupportedRequestError
from snakka.metadata.image import Provenance
from snakka.node.election_file import write_election
from snakka.node.metadata_follower import Committed
from snakka.node.metadata_log import MetadataLog
from snakka.node.snapshot_files import SnapshotFiles
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.batch import Batch, batches
from snakka.protocol.schema import Request, Response
from snakka.quorum.peers import Node
from snakka.quorum.ready import Flush, Inbound, Outbound
from snakka.quorum.replica import NotLeaderError, QuorumReplica
from snakka.quorum.replies import find_leader_endpoint
from snakka.storage.disk import Disk

log = logging.getLogger(__name__)

_READ_BYTES: Final = 4 * 1024 * 1024
_SHUTDOWN_TIMEOUT_S: Final = 5.0


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
        send: Callable[[Outbound], Awaitable[Response]],
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
        self._send = send
        self._now_ms = now_ms
        self._on_committed = on_committed
        self._on_snapshot = on_snapshot
        self._on_leadership = on_leadership
        self._applied_offset = 0
        self._has_started = False
        self._led_epoch: int | None = None
        self._submissions: deque[_Submission] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking: dict[int, asyncio.Future[Response]] = {}
        self._next_token = 0
        self._leader: tuple[int, int | None] = (-1, None)
        self._leader_changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sending: set[asyncio.Task[None]] = set()
        self._has_shut_down = asyncio.Event()
        self._has_ended = False

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
        """Hands over leadership, where there is somebody to take it."""
        self._replica.shut_down(self._now_ms())
        self._after_event()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_shut_down.wait(), _SHUTDOWN_TIMEOUT_S)
        self._has_ended = True
        if self._timer is not None:
            self._timer.cancel()
        self._end_submissions()
        for task in self._sending:
            task.cancel()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self._log.log.shut_down()

    @property
    def is_leader(self) -> bool:
        return self._replica.is_leader

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._log.end.offset

    @property
    def facts(self) -> QuorumFacts:
        return QuorumFacts(self._replica.leader_id, self._replica.kraft_version)

    @property
    def voter_ids(self) -> frozenset[int]:
        return frozenset(self._replica.voters.ids)

    def find_leader(self) -> Node | None:
        """Where the leader of this epoch is, as far as this node knows."""
        leader_id = self._replica.leader_id
        endpoint = find_leader_endpoint(self._replica.quorum)
        if leader_id is None or endpoint is None:
            return None
        return Node(leader_id, endpoint.host, endpoint.port)

    async def leader_changed(self) -> None:
        """Returns once there is another leader, or none, or the first."""
        await asyncio.shield(self._leader_changed)

    async def answer(self, request: Request, version: int) -> Response:
        """What this replica says to another node, or to an administrator."""
        self._next_token += 1
        token = self._next_token
        answer: asyncio.Future[Response] = self._loop.create_future()
        self._asking[token] = answer
        self._replica.receive(Inbound(token, version, request), self._now_ms())
        self._after_event()
        try:
            return await answer
        finally:
            self._asking.pop(token, None)

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
            for request in () if self._has_ended else ready.requests:
                self._start(self._exchange(request), self._sending)
            for reply in ready.replies:
                answer = self._asking.get(cast(int, reply.token))
                if answer is not None and not answer.done():
                    answer.set_result(reply.message)
            if ready.flush is not None:
                self._start(self._flush(ready.flush), self._tasks)
        self._apply_committed()
        self._tell_leadership()
        self._set_timer()
        if self._replica.has_shut_down:
            self._has_shut_down.set()

    def _start(self, work: Coroutine[None, None, None], tasks: set[asyncio.Task[None]]) -> None:
        task = self._loop.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _exchange(self, outbound: Outbound) -> None:
        """Sends a request, and reports what became of it."""
        correlation_id = outbound.correlation_id
        try:
            response = await self._send(outbound)
        except UnsupportedRequestError:
            self._replica.fail(correlation_id, ErrorCode.UNSUPPORTED_VERSION, self._now_ms())
        except ClientError:
            self._replica.fail(correlation_id, ErrorCode.NETWORK_EXCEPTION, self._now_ms())
        else:
            self._replica.respond(correlation_id, response, self._now_ms())
        self._after_event()

    async def _flush(self, flush: Flush) -> None:
        unflushed = self._log.log.begin_flush()
        if unflushed is not None:
            try:
                await asyncio.to_thread(unflushed.sync, self._disk)
            except OSError as error:
                raise self._log.log.fail(error) from error
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
            if submission.done.done():
                continue
            if submission.epoch == self._replica.epoch:
                submission.done.set_result(None)
            else:  # committed by somebody else, or something else is there
                _fail(submission.done)

    def _tell_leadership(self) -> None:
        """A leader is told of once everything before its epoch is applied."""
        leader = (self._replica.epoch, self._replica.leader_id)
        if leader != self._leader:
            self._leader = leader
            if self._replica.leader_id is not None:
                log.info("epoch %d of the metadata quorum is led by node %d", *leader)
            self._leader_changed.set_result(None)
            self._leader_changed = self._loop.create_future()
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
                _fail(submission.done)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._has_ended:
            return
        now_ms = self._now_ms()
        deadline_ms = self._replica.next_deadline_ms(now_ms)
        if deadline_ms is not None:
            delay_s = max(0, deadline_ms - now_ms) / 1000
            self._timer = self._loop.call_later(delay_s, self._tick)

    def _tick(self) -> None:
        self._replica.tick(self._now_ms())
        self._after_event()


def _fail(submission: asyncio.Future[None]) -> None:
    submission.set_exception(NotLeaderError())
    submission.exception()  # nobody may be waiting, and that is fine


def _committed(batch: Batch) -> Committed:
    header = batch.header
    values = [] if header.is_control else [record.value or b"" for record in batch.records()]
    last = Provenance(header.last_offset, header.leader_epoch, header.max_timestamp)
    return Committed(values, last, len(batch.data))
