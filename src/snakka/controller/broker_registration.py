"""BrokerRegistration: a process enters the cluster as a broker.

A process is known by its incarnation id. A new one gets a new epoch, which is the offset of its
registration in the metadata log, and starts fenced; the same one may amend its registration and
keeps both. KIP-631, KIP-584 features, KIP-858 log directories, KIP-966.

Not here: how a broker comes to be unfenced (broker_heartbeat.py).
"""

from collections.abc import Iterator

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.leadership import after_unclean_shutdown, without_broker
from snakka.controller.sessions import BrokerSessions
from snakka.controller.view import View
from snakka.metadata.brokers import Broker
from snakka.metadata.directories import is_reserved
from snakka.metadata.versions import METADATA_VERSION, Levels
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from snakka.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from snakka.protocol.types import format_uuid


def register_broker(
    view: View, sessions: BrokerSessions, request: BrokerRegistrationRequest, now_ms: int
) -> Decision[BrokerRegistrationResponse]:
    existing = view.image.brokers.get(request.broker_id)
    try:
        _check_cluster(view, request)
        _check_duplicate(existing, sessions, request, now_ms)
        _check_directories(view, request)
        _check_features(view, request)
    except RefusedError as refused:
        return Decision(_registered(refused.code, -1))
    is_same = existing is not None and existing.incarnation_id == request.incarnation_id
    cleanup = [] if is_same else _clean_up(view, existing, request)
    record = _registration(view, existing if is_same else None, request)
    registered_at = view.next_offset + len(cleanup)
    sessions.register(request.broker_id, record.broker_epoch, registered_at, now_ms)
    return Decision(_registered(ErrorCode.NONE, record.broker_epoch), [*cleanup, record])


def _check_cluster(view: View, request: BrokerRegistrationRequest) -> None:
    if request.cluster_id != view.settings.cluster_id:
        raise RefusedError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {view.settings.cluster_id}, but got cluster ID"
            f" {request.cluster_id}",
        )
    if request.is_migrating_zk_broker:
        raise RefusedError(
            ErrorCode.BROKER_ID_NOT_REGISTERED,
            "Controller does not support registering ZK brokers.",
        )


def _check_duplicate(
    existing: Broker | None,
    sessions: BrokerSessions,
    request: BrokerRegistrationRequest,
    now_ms: int,
) -> None:
    """Two processes with one id: the one that serves and is heard of stays.

    A fenced one is let go: it has shut down, or has not begun to serve.
    """
    if existing is None or existing.fenced or existing.incarnation_id == request.incarnation_id:
        return
    if sessions.is_valid(request.broker_id, now_ms):
        raise RefusedError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            "Another broker is registered with that broker id. If the broker was recently"
            " restarted this should self-resolve once the heartbeat manager expires the broker's"
            " session.",
        )


def _check_directories(view: View, request: BrokerRegistrationRequest) -> None:
    if not view.image.metadata_version.has_directories:
        return
    code = ErrorCode.INVALID_REGISTRATION
    if not request.log_dirs:
        raise RefusedError(code, "No directories specified in request")
    if any(is_reserved(each) for each in request.log_dirs):
        raise RefusedError(code, "Reserved directory ID in request")
    if len(set(request.log_dirs)) != len(request.log_dirs):
        raise RefusedError(code, "Duplicate directory ID in request")
    for broker in view.image.brokers.values():
        taken = [each for each in request.log_dirs if each in broker.log_dirs]
        if taken and broker.broker_id != request.broker_id:
            raise RefusedError(
                code,
                f"Broker {broker.broker_id} is already registered with directory"
                f" {format_uuid(taken[0])}",
            )


def _check_features(view: View, request: BrokerRegistrationRequest) -> None:
    """Every level in force is one that the broker supports; a feature it does not name is off."""
    supported = {
        each.name: Levels(each.min_supported_version, each.max_supported_version)
        for each in request.features
    }
    if METADATA_VERSION not in supported:
        raise RefusedError(
            ErrorCode.INVALID_REGISTRATION,
            "Request features do not contain 'metadata.version'",
        )
    for name in {**supported, **view.image.features}:
        level = view.image.features.get(name, 0)
        levels = supported.get(name, Levels(0, 0))
        if level not in levels:
            raise RefusedError(
                ErrorCode.UNSUPPORTED_VERSION,
                "Unable to register because the broker does not support finalized version"
                f" {level} of {name}. The broker wants a version between {levels.min} and"
                f" {levels.max}, inclusive.",
            )


def _clean_up(
    view: View, existing: Broker | None, request: BrokerRegistrationRequest
) -> list[MetadataRecord]:
    """The process before is gone, however it went."""
    was_clean = existing is not None and existing.epoch == request.previous_broker_epoch
    if view.has_elr and not was_clean:
        return list(after_unclean_shutdown(view, request.broker_id))
    return list(without_broker(view, request.broker_id))


def _registration(
    view: View, amended: Broker | None, request: BrokerRegistrationRequest
) -> RegisterBrokerRecord:
    version = view.image.metadata_version
    return RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=view.next_offset if amended is None else amended.epoch,
        end_points=list(_endpoints(request)),
        features=[
            BrokerFeature(
                name=each.name,
                min_supported_version=each.min_supported_version,
                max_supported_version=each.max_supported_version,
            )
            for each in request.features
        ],
        rack=request.rack,
        fenced=True if amended is None else amended.fenced,
        in_controlled_shutdown=False if amended is None else amended.in_controlled_shutdown,
        log_dirs=list(request.log_dirs) if version.has_directories else [],
    )


def _endpoints(request: BrokerRegistrationRequest) -> Iterator[BrokerEndpoint]:
    for each in request.listeners:
        yield BrokerEndpoint(
            name=each.name,
            host=each.host,
            port=each.port,
            security_protocol=each.security_protocol,
        )


def _registered(code: ErrorCode, epoch: int) -> BrokerRegistrationResponse:
    return BrokerRegistrationResponse(throttle_time_ms=0, error_code=code, broker_epoch=epoch)
