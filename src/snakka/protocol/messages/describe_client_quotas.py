"""DescribeClientQuotas (key 48): client quotas that match a filter.

KIP-546.
"""

from snakka.protocol.schema import Request, Response, Struct
from snakka.protocol.types import Float64, Int8, Int16, Int32


class ComponentData(Struct):
    entity_type: str
    match_type: Int8
    match: str | None


class DescribeClientQuotasRequest(Request, key=48, versions="0-1", flexible="1+"):
    components: list[ComponentData]
    strict: bool


class EntityData(Struct):
    entity_type: str
    entity_name: str | None


class ValueData(Struct):
    key: str
    value: Float64


class EntryData(Struct):
    entity: list[EntityData]
    values: list[ValueData]


class DescribeClientQuotasResponse(Response, key=48, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    entries: list[EntryData] | None
