"""ControllerRegistration (key 70): a controller makes its endpoints and features known.

KIP-919.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int16, Int32, UInt16, Uuid


class Listener(Struct):
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


class Feature(Struct):
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


class ControllerRegistrationRequest(
    Request, key=70, versions="0", flexible="0+", listeners=Listeners.CONTROLLER
):
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: bool
    listeners: list[Listener]
    features: list[Feature]


class ControllerRegistrationResponse(Response, key=70, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
