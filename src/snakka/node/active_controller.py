"""The active controller: decides (controller/), has it written (quorum), answers once committed.

A decision sees all that was written before it, committed or not; every answer waits until what it
was decided on is committed. A controller that loses its leadership forgets its view, and whoever
waits is told to ask another one.

Not here: what is decided (controller/), finding it from another node (controller_channel.py).
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeVar

from snakka.apis.context import Sender
from snakka.controller.broker_fencing import fence_stale_broker, unfenced_ids
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.mutation_quota import STRICT_FROM, UNCHARGED, MutationQuotas
from snakka.controller.ports import ConfigRules
from snakka.controller.sessions import BrokerSessions
from snakka.controller.view import Settings, View
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import MetadataImage, Provenance
from snakka.metadata.versions import LATEST, record_version
from snakka.node.controller_commands import COMMANDS, Asked
from snakka.node.quorum_driver import QuorumDriver
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.frames import write_typed
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.schema import Request, Response, replace
from snakka.quorum.replica import QUORUM_REQUESTS, NotLeaderError, RecordsTooLargeError

_A = TypeVar("_A", bound=Response)

_BATCH_BYTES: Final = 1024 * 1024  # of records that need not come together
_IDLE_MS: Final = 1000  # between looks for stale brokers while there are no unfenced ones


@dataclass(frozen=True, slots=True)
class Periodic:
    """What a controller does of itself, and again at once as long as the decision says True."""

    interval_ms: int
    decide: Callable[[View], Decision[bool]]


class ActiveController:
    """The controller of this node: active while its replica leads the quorum."""

    def __init__(
        self,
        settings: Settings,
        rules: ConfigRules,
        find_image: Callable[[], MetadataImage],
        *,
        session_timeout_ms: int,
        now_ms: Callable[[], int],
        rng: Random,
        mutation_quotas: MutationQuotas,
        first_records: Sequence[MetadataRecord],
        periodic: Sequence[Periodic] = (),
    ) -> None:
        self._settings = settings
        self._rules = rules
        self._find_image = find_image
        self._session_timeout_ms = session_timeout_ms
        self._now_ms = now_ms
        self._rng = rng
        self._mutation_quotas = mutation_quotas
        self._first_records = first_records
        self._periodic = periodic
        self._view: View | None = None
        self.sessions: BrokerSessions
        self._written: asyncio.Future[None] | None = None  # the latest batch
        self._tasks: list[asyncio.Task[None]] = []
        self.quorum: QuorumDriver

    def on_leadership(self, epoch: int | None) -> None:
        """This node leads the quorum in that epoch, or, with None, no longer."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        self._written = None
        if epoch is None:
            self._view = None
            return
        image = self._find_image()
        self._view = View(image, self._settings, self._rules)
        self.sessions = BrokerSessions(
            self._session_timeout_ms, image.brokers.values(), self._now_ms()
        )
        if not image.features:
            self._write(self._view, self._first_records)
        own = [self._fence_stale(), *(self._repeat(each) for each in self._periodic)]
        self._tasks = [asyncio.get_running_loop().create_task(each) for each in own]

    async def ask(
        self, request: Request, version: int, response: type[_A], sender: Sender | None = None
    ) -> _A:
        """What the controller answers, once that is committed; the quorum answers for itself."""
        if type(request) in QUORUM_REQUESTS:
            answer: Any = await self.quorum.answer(request, version)
        else:
            answer = await self._command(request, version, sender)
        assert isinstance(answer, response)
        return answer

    async def _command(self, request: Request, version: int, sender: Sender | None) -> Any:
        if self._view is None:
            raise RefusedError(ErrorCode.NOT_CONTROLLER)
        try:
            decision = self._decide(self._view, request, version, sender)
            return await self._carry_out(self._view, decision)
        except NotLeaderError:
            raise RefusedError(ErrorCode.NOT_CONTROLLER) from None
        except RecordsTooLargeError:
            raise RefusedError(
                ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
            ) from None

    def _decide(
        self, view: View, request: Request, version: int, sender: Sender | None
    ) -> Decision[Any]:
        now_ms = self._now_ms()
        strict_from = STRICT_FROM.get(type(request))
        charge = UNCHARGED
        if strict_from is not None and sender is not None:
            charge = self._mutation_quotas.admit(
                view.image,
                sender.user,
                sender.client_id,
                now_ms,
                is_strict=version >= strict_from,
            )
        view.next_offset = self.quorum.end_offset  # the quorum writes records of its own, too
        asked = Asked(request, now_ms, self._rng, self.sessions, self.quorum, charge)
        decision = COMMANDS[type(request)](view, asked)
        if not charge.throttle_time_ms:
            return decision
        response = replace(decision.response, throttle_time_ms=charge.throttle_time_ms)
        return Decision(response, decision.records, decision.is_atomic)

    async def _carry_out(self, view: View, decision: Decision[Any]) -> Any:
        for records in _batches(view, decision):
            self._write(view, records)
        if self._written is not None:
            await asyncio.shield(self._written)
        return decision.response

    def _write(self, view: View, records: Sequence[MetadataRecord]) -> None:
        self._written = self.quorum.submit([_encoded(view, record) for record in records])
        delta = MetadataDelta(view.image)
        for record in records:
            delta.replay(record)
        last_offset = self.quorum.end_offset - 1
        view.advance(delta, delta.after(Provenance(last_offset, 0, self._now_ms())))

    async def _repeat(self, periodic: Periodic) -> None:
        while self._view is not None:
            await asyncio.sleep(periodic.interval_ms / 1000)
            has_more = True
            while self._view is not None and has_more:
                try:
                    has_more = await self._carry_out(self._view, periodic.decide(self._view))
                except NotLeaderError:
                    return

    async def _fence_stale(self) -> None:
        """Fences the brokers that have not been heard of for too long."""
        while self._view is not None:
            deadline_ms = self.sessions.next_deadline_ms(unfenced_ids(self._view))
            left_ms = _IDLE_MS if deadline_ms is None else deadline_ms - self._now_ms()
            await asyncio.sleep(max(0, left_ms) / 1000)
            fenced: int | None = 0
            while self._view is not None and fenced is not None:
                decision = fence_stale_broker(self._view, self.sessions, self._now_ms())
                try:
                    fenced = await self._carry_out(self._view, decision)
                except NotLeaderError:
                    return


def _encoded(view: View, record: MetadataRecord) -> bytes:
    level = view.image.metadata_version if view.image.features else LATEST
    return write_typed(record, record_version(record, level))


def _batches(view: View, decision: Decision[Any]) -> Iterator[Sequence[MetadataRecord]]:
    """All records at once where they belong together, else as many as a batch may well have."""
    records = decision.records
    start = size_bytes = 0
    for index, record in enumerate(() if decision.is_atomic else records):
        size_bytes += len(_encoded(view, record))
        if size_bytes >= _BATCH_BYTES:
            yield records[start : index + 1]
            start, size_bytes = index + 1, 0
    if start < len(records):
        yield records[start:]
