"""AlterClientQuotas (KIP-546): what users, client ids and addresses may use.

Not here: keeping to them (mutation_quota.py, quotas/).
"""

from collections.abc import Mapping
from ipaddress import ip_address
from types import MappingProxyType
from typing import Final

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.limits import check_record_count
from snakka.controller.view import View
from snakka.metadata.keys import (
    CLIENT_ID,
    IP,
    USER,
    QuotaEntity,
    quota_entity,
    quota_entity_data,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import ClientQuotaRecord
from snakka.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    OpData,
    RequestEntryData,
    ResponseEntryData,
)

# The largest whole number that a key may have; None for keys that need not be whole.
_CLIENT_KEYS: Final[Mapping[str, int | None]] = MappingProxyType(
    {
        "producer_byte_rate": 2**63 - 1,
        "consumer_byte_rate": 2**63 - 1,
        "request_percentage": None,
        "controller_mutation_rate": None,
    }
)
_IP_KEYS: Final[Mapping[str, int | None]] = MappingProxyType(
    {"connection_creation_rate": 2**31 - 1}
)
_FRACTION_MAX: Final = 1e-6


def alter_client_quotas(
    view: View, request: AlterClientQuotasRequest
) -> Decision[AlterClientQuotasResponse]:
    records: list[MetadataRecord] = []
    seen: set[QuotaEntity] = set()
    entries = []
    for entry in request.entries:
        code, message = ErrorCode.NONE, None
        try:
            altered = _alter(view, entry, seen)
            check_record_count([*records, *altered])
            records += altered
        except RefusedError as refused:
            code, message = refused.code, refused.message
        entries.append(
            ResponseEntryData(error_code=code, error_message=message, entity=entry.entity)
        )
    response = AlterClientQuotasResponse(throttle_time_ms=0, entries=entries)
    return Decision(response, [] if request.validate_only else records)


def _alter(view: View, entry: RequestEntryData, seen: set[QuotaEntity]) -> list[ClientQuotaRecord]:
    entity = _entity(entry)
    if entity in seen:
        raise _invalid(f"Ignoring duplicate entity {_text(entity)}")
    seen.add(entity)
    keys = _keys(dict(entity))
    current = view.image.client_quotas.get(entity) or {}
    records: dict[str, ClientQuotaRecord | None] = {}
    for op in entry.ops:
        if op.key in records:
            raise _invalid(
                f"Duplicate quota key {op.key} not updating quota for this entity {_text(entity)}"
            )
        if not op.remove:
            _check_value(keys, op)
        is_change = op.key in current if op.remove else current.get(op.key) != op.value
        records[op.key] = _record(entity, op) if is_change else None
    return [each for each in records.values() if each is not None]


def _entity(entry: RequestEntryData) -> QuotaEntity:
    if not entry.entity:
        raise _invalid("Invalid empty client quota entity")
    parts: dict[str, str | None] = {}
    for each in entry.entity:
        if each.entity_type in parts:
            raise _invalid(
                f"Invalid client quota entity, duplicate entity entry {each.entity_type}"
            )
        if each.entity_type not in (USER, CLIENT_ID, IP):
            raise _invalid(f"Unhandled client quota entity type: {each.entity_type}")
        if each.entity_name == "":
            raise _invalid(f"Empty {each.entity_type} not supported")
        parts[each.entity_type] = each.entity_name
    return quota_entity(parts.items())


def _keys(parts: Mapping[str, str | None]) -> Mapping[str, int | None]:
    if IP not in parts:
        return _CLIENT_KEYS
    if len(parts) > 1:
        raise _invalid(
            "Invalid quota entity combination, IP entity should not be combined with User or"
            " ClientId"
        )
    address = parts[IP]
    if address is not None:
        # Kafka also takes names that resolve. Looking one up is nothing that a decision can do.
        try:
            ip_address(address)
        except ValueError:
            raise _invalid(f"{address} is not a valid IP or resolvable host.") from None
    return _IP_KEYS


def _check_value(keys: Mapping[str, int | None], op: OpData) -> None:
    if op.key not in keys:
        raise _invalid(f"Invalid configuration key {op.key}")
    if not op.value > 0:
        raise _invalid(f"Quota {op.key} must be greater than 0")
    largest = keys[op.key]
    if largest is None:
        return
    if op.value > largest:
        kind = "an INT" if largest == 2**31 - 1 else "a LONG"
        raise _invalid(f"Proposed value for {op.key} is too large for {kind}.")
    if op.value % 1 > _FRACTION_MAX:
        raise _invalid(f"{op.key} cannot be a fractional value.")


def _record(entity: QuotaEntity, op: OpData) -> ClientQuotaRecord:
    return ClientQuotaRecord(
        entity=quota_entity_data(entity),
        key=op.key,
        value=0.0 if op.remove else op.value,
        remove=op.remove,
    )


def _text(entity: QuotaEntity) -> str:
    return ", ".join(f"{kind}={name or '<default>'}" for kind, name in entity)


def _invalid(message: str) -> RefusedError:
    return RefusedError(ErrorCode.INVALID_REQUEST, message)
