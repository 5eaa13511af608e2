"""DescribeClientQuotas (key 48): quotas whose entity matches a filter. KIP-546.

Not here: which quota is in force for a client (quotas/).
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.metadata.keys import CLIENT_ID, IP, USER, QuotaEntity
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

_EXACT: Final = 0
_DEFAULT: Final = 1
_SPECIFIED: Final = 2  # whatever the entity is called, the default included
_TYPES: Final = frozenset({USER, CLIENT_ID, IP})

# By entity type: the names that match, or None where all do.
_Filter: TypeAlias = Mapping[str, tuple[str | None, ...] | None]


class _RefusedFilterError(Exception):
    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@api(ApiKey.DESCRIBE_CLIENT_QUOTAS)
async def describe_client_quotas(
    request: DescribeClientQuotasRequest, context: RequestContext
) -> DescribeClientQuotasResponse:
    try:
        wanted = _filter(request.components)
    except _RefusedFilterError as refused:
        return DescribeClientQuotasResponse(
            throttle_time_ms=0,
            error_code=refused.code,
            error_message=str(refused),
            entries=None,
        )
    return DescribeClientQuotasResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message=None,
        entries=[
            _entry(entity, values)
            for entity, values in context.image.client_quotas.items()
            if _matches(entity, wanted, is_strict=request.strict)
        ],
    )


def _filter(components: list[ComponentData]) -> _Filter:
    wanted: dict[str, tuple[str | None, ...] | None] = {}
    for each in components:
        if not each.entity_type:
            raise _invalid("an entity type is empty")
        if each.entity_type in wanted:
            raise _invalid(f"entity type {each.entity_type} is in the filter more than once")
        if each.entity_type not in _TYPES:
            raise _RefusedFilterError(
                ErrorCode.UNSUPPORTED_VERSION, f"there is no entity type {each.entity_type}"
            )
        wanted[each.entity_type] = _names(each)
    if "ip" in wanted and len(wanted) > 1:
        raise _invalid("addresses do not go with users or client ids")
    return wanted


def _names(component: ComponentData) -> tuple[str | None, ...] | None:
    if component.match_type not in (_EXACT, _DEFAULT, _SPECIFIED):
        raise _invalid(f"there is no match type {component.match_type}")
    if (component.match is None) == (component.match_type == _EXACT):
        needs = "a name" if component.match_type == _EXACT else "no name"
        raise _invalid(f"match type {component.match_type} takes {needs}")
    return None if component.match_type == _SPECIFIED else (component.match,)


def _invalid(message: str) -> _RefusedFilterError:
    return _RefusedFilterError(ErrorCode.INVALID_REQUEST, message)


def _matches(entity: QuotaEntity, wanted: _Filter, *, is_strict: bool) -> bool:
    """Strict filters name all parts of an entity; others pass over what they do not name."""
    parts = dict(entity)
    if is_strict and len(parts) != len(wanted):
        return False
    return all(
        kind in parts and (names is None or parts[kind] in names) for kind, names in wanted.items()
    )


def _entry(entity: QuotaEntity, values: Mapping[str, float]) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        values=[ValueData(key=key, value=value) for key, value in values.items()],
    )
