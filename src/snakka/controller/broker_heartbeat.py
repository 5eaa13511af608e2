"""BrokerHeartbeat: a broker says that it is alive, how far it is, and what it wants.

It is unfenced when it asks and has caught up with its own registration. It is let go when it asks
and leads nothing any more, and all others have heard so (KIP-841). KIP-858 failed directories,
KIP-1066 cordoned directories.

Not here: brokers that say nothing (broker_fencing.py).
"""

from enum import Enum, auto

from snakka.controller.broker_fencing import (
    begin_controlled_shutdown,
    fence,
    registration_change,
    unfence,
)
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.leadership import leads_any, without_broker
from snakka.controller.partition_index import PartitionKey
from snakka.controller.sessions import BrokerSessions
from snakka.controller.view import View
from snakka.metadata.brokers import Broker
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.messages.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from snakka.protocol.types import Uuid


class _State(Enum):
    FENCED = auto()
    UNFENCED = auto()
    CONTROLLED_SHUTDOWN = auto()
    SHUTDOWN_NOW = auto()


def get_broker(view: View, broker_id: int, epoch: int) -> Broker:
    """The registration in force, if it is the sender's."""
    broker = view.image.brokers.get(broker_id)
    if broker is None:
        raise RefusedError(
            ErrorCode.STALE_BROKER_EPOCH, f"No broker registration found for broker id {broker_id}"
        )
    if broker.epoch != epoch:
        raise RefusedError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}",
        )
    return broker


def heartbeat(
    view: View, sessions: BrokerSessions, request: BrokerHeartbeatRequest, now_ms: int
) -> Decision[BrokerHeartbeatResponse]:
    try:
        broker = get_broker(view, request.broker_id, request.broker_epoch)
    except RefusedError as refused:
        return Decision(
            BrokerHeartbeatResponse(
                throttle_time_ms=0, error_code=refused.code, should_shut_down=False
            )
        )
    sessions.touch(broker.broker_id, request.current_metadata_offset, now_ms)
    before = _state(sessions, broker)
    after = _next_state(view, sessions, broker, before, request)
    records = [] if before is after else _transition(view, broker, after)
    _track_shutdown(view, sessions, broker, after, len(records))
    records += _directory_changes(view, broker, request)
    return Decision(_response(sessions, broker, after, request), records, is_atomic=False)


def _state(sessions: BrokerSessions, broker: Broker) -> _State:
    if sessions.shutdown_offset(broker.broker_id) is not None:
        return _State.CONTROLLED_SHUTDOWN
    return _State.FENCED if broker.fenced else _State.UNFENCED


def _next_state(
    view: View,
    sessions: BrokerSessions,
    broker: Broker,
    state: _State,
    request: BrokerHeartbeatRequest,
) -> _State:
    if state is _State.CONTROLLED_SHUTDOWN:
        return _State.SHUTDOWN_NOW if _may_go(view, sessions, broker) else state
    if request.want_shut_down:
        may_wait = state is _State.UNFENCED and not request.want_fence
        is_needed = may_wait and leads_any(view, broker.broker_id)
        return _State.CONTROLLED_SHUTDOWN if is_needed else _State.SHUTDOWN_NOW
    if request.want_fence:
        return _State.FENCED
    has_caught_up = request.current_metadata_offset >= sessions.registered_at(broker.broker_id)
    if state is _State.FENCED and has_caught_up:
        return _State.UNFENCED
    return state


def _may_go(view: View, sessions: BrokerSessions, broker: Broker) -> bool:
    """Nobody asks it for anything any more, having seen that it leads nothing."""
    if leads_any(view, broker.broker_id):
        return False
    active = (each.broker_id for each in view.image.brokers.values() if not each.fenced)
    lowest = sessions.lowest_active_offset(active)
    offset = sessions.shutdown_offset(broker.broker_id)
    return lowest is None or offset is None or offset <= lowest


def _transition(view: View, broker: Broker, state: _State) -> list[MetadataRecord]:
    match state:
        case _State.FENCED | _State.SHUTDOWN_NOW:
            return [] if broker.fenced else fence(view, broker)
        case _State.UNFENCED:
            return unfence(view, broker)
        case _State.CONTROLLED_SHUTDOWN:
            return begin_controlled_shutdown(view, broker)


def _track_shutdown(
    view: View, sessions: BrokerSessions, broker: Broker, state: _State, record_count: int
) -> None:
    if state is _State.CONTROLLED_SHUTDOWN:
        sessions.begin_shutdown(broker.broker_id, view.next_offset + record_count - 1)
    elif state in (_State.FENCED, _State.SHUTDOWN_NOW):
        sessions.end_shutdown(broker.broker_id)


def _directory_changes(
    view: View, broker: Broker, request: BrokerHeartbeatRequest
) -> list[MetadataRecord]:
    records: list[MetadataRecord] = []
    version = view.image.metadata_version
    failed = [each for each in broker.log_dirs if each in request.offline_log_dirs]
    if failed and version.has_directories:
        records += without_broker(view, broker.broker_id, _stored_in(view, broker, failed))
        online = [each for each in broker.log_dirs if each not in failed]
        records.append(registration_change(broker, log_dirs=online))
    cordoned = request.cordoned_log_dirs
    if cordoned is None or not version.has_cordoned_directories:
        return records
    if set(cordoned) != set(broker.cordoned_log_dirs or ()):
        records.append(registration_change(broker, cordoned_log_dirs=cordoned))
    return records


def _stored_in(view: View, broker: Broker, directories: list[Uuid]) -> list[PartitionKey]:
    return [
        key
        for key in view.partitions.hosted(broker.broker_id)
        if view.partition(key)[1].directory(broker.broker_id) in directories
    ]


def _response(
    sessions: BrokerSessions, broker: Broker, state: _State, request: BrokerHeartbeatRequest
) -> BrokerHeartbeatResponse:
    return BrokerHeartbeatResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        is_caught_up=request.current_metadata_offset >= sessions.registered_at(broker.broker_id),
        is_fenced=state in (_State.FENCED, _State.SHUTDOWN_NOW),
        should_shut_down=state is _State.SHUTDOWN_NOW,
    )
