"""One partition of an internal topic, its machine, and who waits for it.

Records of a decision are appended, then replayed, and what the decision answers is parked until
they are committed (so are answers that write nothing: they may tell of records that are not).
A log that refuses a batch leaves the machine as it was, and fails everybody the decision answers.

Not here: which partitions there are (runtime.py), what is decided (the machines).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from snakka.coordinators.decision import Decision, Later, WrittenRecord
from snakka.coordinators.errors import CoordinatorError, LogRefusedError, told
from snakka.coordinators.framing import RecordTypes, build
from snakka.coordinators.loading import READ_BYTES_MAX, load
from snakka.coordinators.parked import Parked
from snakka.coordinators.ports import CoordinatorLog, Machine, Timer, Timers
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.records.builder import build_end_txn_batch
from snakka.protocol.records.control import ControlType, EndTxnMarker

M = TypeVar("M", bound=Machine)
R = TypeVar("R")

Command: TypeAlias = Callable[[M, int], Decision[R]]

_NO_PRODUCER_ID: Final = -1
_NEVER_MS: Final = 1 << 62
_logger = logging.getLogger(__name__)


class Stage(Enum):
    """What can be asked of a partition."""

    LOADING = auto()
    ACTIVE = auto()
    CLOSED = auto()


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Limits of every hosted partition."""

    commit_timeout_ms: int = 5_000  # offsets.commit.timeout.ms
    load_bytes_max: int = READ_BYTES_MAX  # offsets.load.buffer.size


class TransactionEnd(NamedTuple):
    """What WriteTxnMarkers says of one producer."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_committed: bool
    transaction_version: int = 0


class _Delivery(NamedTuple):
    """A response, and who gets it."""

    future: asyncio.Future[Any]
    response: Any

    def complete(self) -> None:
        if not self.future.done():
            self.future.set_result(self.response)

    def fail(self, code: ErrorCode) -> None:
        if not self.future.done():
            self.future.set_exception(CoordinatorError(code))


def perform_nothing(hosted: "Hosted[Any]", effect: object) -> None:
    """Most machines decide nothing that goes beyond their log."""


class Hosted(Generic[M]):
    """A machine on the partition that it lives in, for one leader epoch."""

    def __init__(
        self,
        machine: M,
        log: CoordinatorLog,
        leader_epoch: int,
        types: RecordTypes,
        timers: Timers,
        settings: HostSettings,
        perform: "Perform[M]" = perform_nothing,
    ) -> None:
        self.machine = machine
        self.leader_epoch = leader_epoch
        self.stage = Stage.LOADING
        self._log = log
        self._types = types
        self._timers = timers
        self._settings = settings
        self._written_offset = log.start_offset
        self._committed_offset = -1
        self._perform = perform
        self._parked: Parked[_Delivery] = Parked()
        self._effects: Parked[object] = Parked()
        self._later: dict[int, asyncio.Future[Any]] = {}
        self._timer: Timer | None = None
        self._timer_at_ms = 0

    async def load(self) -> None:
        """Until this is done, commands are refused with COORDINATOR_LOAD_IN_PROGRESS."""
        try:
            await load(self.machine, self._log, self._types, self._settings.load_bytes_max)
        except (ValueError, OSError, LogRefusedError):
            # The next leader epoch tries again; meanwhile clients look for another coordinator.
            _logger.exception("a coordinator's partition cannot be loaded")
            self.close()
            return
        if self.stage is Stage.LOADING:
            self.stage = Stage.ACTIVE
            self._watch(self._log.end_offset)
            now_ms = self._timers.now_ms()
            self._settle(self.machine.on_loaded(now_ms), None, now_ms)

    def execute(self, command: Command[M, R]) -> asyncio.Future[R]:
        """Decides now, and answers once what was decided is committed."""
        self._check_active()
        now_ms = self._timers.now_ms()
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._settle(command(self.machine, now_ms), future, now_ms)
        return future

    def end_transaction(self, end: TransactionEnd) -> asyncio.Future[None]:
        """Writes the marker of a transaction that wrote to this partition."""
        self._check_active()
        now_ms = self._timers.now_ms()
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        kind = ControlType.COMMIT if end.is_committed else ControlType.ABORT
        batch = build_end_txn_batch(
            EndTxnMarker(kind, end.coordinator_epoch),
            timestamp_ms=now_ms,
            producer_id=end.producer_id,
            producer_epoch=end.producer_epoch,
        )
        delivery = _Delivery(future, None)
        try:
            self._watch(
                self._log.append(bytearray(batch), self.leader_epoch, end.transaction_version)
            )
        except LogRefusedError as error:
            delivery.fail(error.code)
            return future
        self.machine.replay_end_transaction(end.producer_id, end.is_committed)
        self._park([delivery], now_ms)
        self._plan(now_ms)
        return future

    def close(self) -> None:
        """Leadership is lost: nobody here may be answered any more but by NOT_COORDINATOR."""
        self.stage = Stage.CLOSED
        waiting = [*self._parked.clear(), *(_Delivery(each, None) for each in self._later.values())]
        self._later.clear()
        self._effects.clear()
        for each in waiting:
            each.fail(ErrorCode.NOT_COORDINATOR)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_active(self) -> None:
        if self.stage is Stage.LOADING:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        if self.stage is Stage.CLOSED:
            raise CoordinatorError(ErrorCode.NOT_COORDINATOR)

    def _settle(
        self, decision: Decision[Any], future: asyncio.Future[Any] | None, now_ms: int
    ) -> None:
        deliveries = self._deliveries(decision, future)
        try:
            self._write(decision, now_ms)
        except LogRefusedError as error:
            for each in deliveries:
                each.fail(told(error.code))
        else:
            for effect in decision.effects:
                self._effects.add(self._written_offset, _NEVER_MS, effect)
            self._park(deliveries, now_ms)
        self._plan(now_ms)

    def _deliveries(
        self, decision: Decision[Any], future: asyncio.Future[Any] | None
    ) -> list[_Delivery]:
        found = []
        if future is not None:
            if isinstance(decision.response, Later):
                self._later[decision.response.token] = future
            else:
                found.append(_Delivery(future, decision.response))
        found += [_Delivery(self._later.pop(token), each) for token, each in decision.answers]
        return found

    def _write(self, decision: Decision[Any], now_ms: int) -> None:
        if not decision.records:
            return
        batch = build(decision.records, decision.transaction, now_ms)
        end_offset = self._log.append(batch, self.leader_epoch)
        producer_id = decision.transaction.producer_id if decision.transaction else _NO_PRODUCER_ID
        first_offset = end_offset - len(decision.records)
        for offset, each in enumerate(decision.records, first_offset):
            self.machine.replay(WrittenRecord(each.key, each.value, offset, producer_id))
        self._watch(end_offset)

    def _park(self, deliveries: list[_Delivery], now_ms: int) -> None:
        deadline_ms = now_ms + self._settings.commit_timeout_ms
        for each in deliveries:
            self._parked.add(self._written_offset, deadline_ms, each)
        if self.stage is Stage.CLOSED:  # the append itself told that leadership is lost
            self.close()
        self._release()

    def _watch(self, end_offset: int) -> None:
        self._written_offset = end_offset
        committed = self._log.committed(end_offset)
        if committed.done():
            self._on_committed(end_offset, committed)
        else:
            committed.add_done_callback(lambda done: self._on_committed(end_offset, done))

    def _on_committed(self, offset: int, committed: asyncio.Future[None]) -> None:
        if self.stage is Stage.CLOSED:
            if not committed.cancelled():
                committed.exception()  # it is known here, and no news
        elif committed.cancelled() or committed.exception() is not None:
            self.close()
        else:
            self._committed_offset = max(self._committed_offset, offset)
            self._release()

    def _release(self) -> None:
        for each in self._parked.release(self._committed_offset):
            each.complete()
        for effect in self._effects.release(self._committed_offset):
            self._perform(self, effect)

    def _plan(self, now_ms: int) -> None:
        if self.stage is not Stage.ACTIVE:
            return
        candidates = (self.machine.next_deadline_ms(), self._parked.next_deadline_ms())
        next_ms = min((each for each in candidates if each is not None), default=None)
        if next_ms is None or (self._timer is not None and self._timer_at_ms <= next_ms):
            return  # a timer that comes too early finds nothing to do and plans anew
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at_ms = next_ms
        self._timer = self._timers.call_later(max(0, next_ms - now_ms), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now_ms = self._timers.now_ms()
        for each in self._parked.expire(now_ms):
            each.fail(told(ErrorCode.REQUEST_TIMED_OUT))
        self._settle(self.machine.expire(now_ms), None, now_ms)


Perform: TypeAlias = Callable[[Hosted[M], object], None]
"""What a machine's shell does about an effect, once its decision is committed."""
