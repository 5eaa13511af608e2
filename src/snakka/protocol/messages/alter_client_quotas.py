"""AlterClientQuotas (key 49): set and remove client quotas.

KIP-546.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Float64, Int16, Int32


class EntityData(Struct):
    entity_type: str
    entity_name: str | None


class OpData(Struct):
    key: str
    value: Float64
    remove: bool


class RequestEntryData(Struct):
    entity: list[EntityData]
    ops: list[OpData]


class AlterClientQuotasRequest(
    Request, key=49, versions="0-1", flexible="1+", listeners=Listeners.BOTH
):
    entries: list[RequestEntryData]
    validate_only: bool


class ResponseEntryData(Struct):
    error_code: Int16
    error_message: str | None
    entity: list[EntityData]


class AlterClientQuotasResponse(Response, key=49, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32
    entries: list[ResponseEntryData]
