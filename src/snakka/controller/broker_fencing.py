"""A broker is fenced, unfenced, shut down, or taken out of the cluster: the records of it.

Not here: when (broker_heartbeat.py, sessions.py).
"""

from collections.abc import Sequence

from snakka.controller.decision import Decision
from snakka.controller.leadership import in_elr, with_broker, without_broker
from snakka.controller.sessions import BrokerSessions
from snakka.controller.view import View
from snakka.metadata.brokers import Broker
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    BrokerRegistrationChangeRecord,
    UnregisterBrokerRecord,
)
from snakka.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from snakka.protocol.types import Uuid

_FENCE = 1
_UNFENCE = -1


def registration_change(
    broker: Broker,
    *,
    fenced: int = 0,
    in_controlled_shutdown: int = 0,
    log_dirs: Sequence[Uuid] = (),
    cordoned_log_dirs: Sequence[Uuid] | None = None,
) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch,
        fenced=fenced,
        in_controlled_shutdown=in_controlled_shutdown,
        log_dirs=list(log_dirs),
        cordoned_log_dirs=None if cordoned_log_dirs is None else list(cordoned_log_dirs),
    )


def fence(view: View, broker: Broker) -> list[MetadataRecord]:
    return [*without_broker(view, broker.broker_id), registration_change(broker, fenced=_FENCE)]


def unfence(view: View, broker: Broker) -> list[MetadataRecord]:
    return [registration_change(broker, fenced=_UNFENCE), *with_broker(view, broker.broker_id)]


def begin_controlled_shutdown(view: View, broker: Broker) -> list[MetadataRecord]:
    records: list[MetadataRecord] = []
    if not broker.in_controlled_shutdown:
        records.append(registration_change(broker, in_controlled_shutdown=1))
    return [*records, *without_broker(view, broker.broker_id)]


def fence_stale_broker(view: View, sessions: BrokerSessions, now_ms: int) -> Decision[int | None]:
    """Fences one broker whose session has ended; asked again until the answer is None.

    One at a time, so that the next decision sees what became of the partitions.
    """
    stale = sessions.expired(unfenced_ids(view), now_ms)
    if not stale:
        return Decision(None)
    sessions.end_shutdown(stale[0])
    return Decision(stale[0], fence(view, view.image.brokers[stale[0]]), is_atomic=False)


def unfenced_ids(view: View) -> list[int]:
    return [each.broker_id for each in view.image.brokers.values() if not each.fenced]


def unregister_broker(
    view: View, sessions: BrokerSessions, request: UnregisterBrokerRequest
) -> Decision[UnregisterBrokerResponse]:
    """The broker is in no ISR and in no ELR any more, and its id is free."""
    broker = view.image.brokers.get(request.broker_id)
    if broker is None:
        message = f"Broker ID {request.broker_id} is not currently registered"
        return Decision(_unregistered(ErrorCode.BROKER_ID_NOT_REGISTERED, message))
    sessions.remove(broker.broker_id)
    records: list[MetadataRecord] = list(without_broker(view, broker.broker_id))
    # A partition has a broker in its ISR or in its ELR, never in both.
    records += without_broker(view, broker.broker_id, list(in_elr(view, broker.broker_id)))
    records.append(UnregisterBrokerRecord(broker_id=broker.broker_id, broker_epoch=broker.epoch))
    return Decision(_unregistered(ErrorCode.NONE, None), records, is_atomic=False)


def _unregistered(code: ErrorCode, message: str | None) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(throttle_time_ms=0, error_code=code, error_message=message)
