"""The active controller: decides (controller/), has it written (quorum), answers once committed.

A decision sees all that was written before it, committed or not; every answer waits until what it
was decided on is committed. A controller that loses its leadership forgets its view, and whoever
waits is told to ask another one.

Not here: what is decided (controller/), finding it from another node (controller_channel.py).
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from snakka.apis.context import Peer
from snakka.controller.alter_configs import incrementally_alter_configs, replace_configs
from snakka.controller.alter_partition import alter_partition
from snakka.controller.assign_directories import assign_replicas_to_dirs
from snakka.controller.broker_fencing import fence_stale_broker, unfenced_ids, unregister_broker
from snakka.controller.broker_heartbeat import heartbeat
from snakka.controller.broker_registration import register_broker
from snakka.controller.client_quotas import alter_client_quotas
from snakka.controller.controller_registration import register_controller
from snakka.controller.create_partitions import create_partitions
from snakka.controller.create_topics import create_topics
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.delete_topics import delete_topics
from snakka.controller.elect_leaders import elect_leaders
from snakka.controller.features import update_features
from snakka.controller.ports import ConfigRules
from snakka.controller.producer_ids import allocate_producer_ids
from snakka.controller.reassignments import alter_reassignments, list_reassignments
from snakka.controller.scram_credentials import alter_scram_credentials
from snakka.controller.sessions import BrokerSessions
from snakka.controller.view import Settings, View
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import MetadataImage, Provenance
from snakka.metadata.versions import LATEST, record_version
from snakka.node.quorum_driver import QuorumDriver
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.frames import write_typed
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from snakka.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from snakka.protocol.messages.alter_configs import AlterConfigsRequest
from snakka.protocol.messages.alter_partition import AlterPartitionRequest
from snakka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)
from snakka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
)
from snakka.protocol.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from snakka.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from snakka.protocol.messages.broker_registration import BrokerRegistrationRequest
from snakka.protocol.messages.controller_registration import ControllerRegistrationRequest
from snakka.protocol.messages.create_partitions import CreatePartitionsRequest
from snakka.protocol.messages.create_topics import CreateTopicsRequest
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest
from snakka.protocol.messages.elect_leaders import ElectLeadersRequest
from snakka.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from snakka.protocol.messages.unregister_broker import UnregisterBrokerRequest
from snakka.protocol.messages.update_features import UpdateFeaturesRequest
from snakka.protocol.schema import Request, Response
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
        first_records: Sequence[MetadataRecord],
        periodic: Sequence[Periodic] = (),
    ) -> None:
        self._settings = settings
        self._rules = rules
        self._find_image = find_image
        self._session_timeout_ms = session_timeout_ms
        self._now_ms = now_ms
        self.rng = rng
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
        self, request: Request, version: int, response: type[_A], sender: Peer | None = None
    ) -> _A:
        """What the controller answers, once that is committed; the quorum answers for itself."""
        if type(request) in QUORUM_REQUESTS:
            answer: Any = await self.quorum.answer(request, version)
        else:
            answer = await self._command(request)
        assert isinstance(answer, response)
        return answer

    async def _command(self, request: Request) -> Any:
        if self._view is None:
            raise RefusedError(ErrorCode.NOT_CONTROLLER)
        decide = COMMANDS[type(request)]
        decision = decide(self, self._view, request, self._now_ms())
        try:
            return await self._carry_out(self._view, decision)
        except NotLeaderError:
            raise RefusedError(ErrorCode.NOT_CONTROLLER) from None
        except RecordsTooLargeError:
            raise RefusedError(
                ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
            ) from None

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


Decide: TypeAlias = Callable[[ActiveController, View, Any, int], Decision[Any]]


def _register(
    controller: ActiveController, view: View, request: BrokerRegistrationRequest, now_ms: int
) -> Decision[Any]:
    view.next_offset = controller.quorum.end_offset
    return register_broker(view, controller.sessions, request, now_ms)


def _update_features(
    controller: ActiveController, view: View, request: UpdateFeaturesRequest, now_ms: int
) -> Decision[Any]:
    view.settings = replace(view.settings, quorum_ids=controller.quorum.voter_ids)
    return update_features(view, request)


COMMANDS: Final[Mapping[type[Request], Decide]] = MappingProxyType(
    {
        AllocateProducerIdsRequest: lambda c, view, request, _: allocate_producer_ids(
            view, request
        ),
        AlterClientQuotasRequest: lambda c, view, request, _: alter_client_quotas(view, request),
        AlterConfigsRequest: lambda c, view, request, _: replace_configs(view, request),
        AlterPartitionRequest: lambda c, view, request, _: alter_partition(view, request),
        AlterPartitionReassignmentsRequest: lambda c, view, request, _: alter_reassignments(
            view, request
        ),
        AlterUserScramCredentialsRequest: lambda c, view, request, _: alter_scram_credentials(
            view, request
        ),
        AssignReplicasToDirsRequest: lambda c, view, request, _: assign_replicas_to_dirs(
            view, request
        ),
        BrokerHeartbeatRequest: lambda c, view, request, now_ms: heartbeat(
            view, c.sessions, request, now_ms
        ),
        BrokerRegistrationRequest: _register,
        ControllerRegistrationRequest: lambda c, view, request, _: register_controller(
            view, request
        ),
        CreatePartitionsRequest: lambda c, view, request, _: create_partitions(
            view, request, c.rng
        ),
        CreateTopicsRequest: lambda c, view, request, _: create_topics(view, request, c.rng),
        DeleteTopicsRequest: lambda c, view, request, _: delete_topics(view, request),
        ElectLeadersRequest: lambda c, view, request, _: elect_leaders(view, request),
        IncrementalAlterConfigsRequest: lambda c, view, request, _: incrementally_alter_configs(
            view, request
        ),
        ListPartitionReassignmentsRequest: lambda c, view, request, _: Decision(
            list_reassignments(view, request)
        ),
        UnregisterBrokerRequest: lambda c, view, request, _: unregister_broker(
            view, c.sessions, request
        ),
        UpdateFeaturesRequest: _update_features,
    }
)
