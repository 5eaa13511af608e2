"""CreateAcls and DeleteAcls: access rules, which never repeat and are deleted by filters.

Not here: what they allow (security/), who may change them (apis/).
"""

from random import Random
from typing import Final, TypeAlias

from snakka.controller.decision import Decision, RefusedError
from snakka.controller.limits import RECORDS_MAX, check_record_count
from snakka.controller.view import View
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
)
from snakka.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from snakka.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from snakka.protocol.types import Uuid, random_uuid

UNKNOWN: Final = 0
ANY: Final = 1
MATCH: Final = 2  # a pattern type: whatever applies to a name
LITERAL: Final = 3
PREFIXED: Final = 4
CLUSTER: Final = 4  # a resource type
CLUSTER_NAME: Final = "kafka-cluster"
WILDCARD: Final = "*"

_RESOURCE_TYPES: Final = range(2, 8)
_OPERATIONS: Final = range(2, 16)
_PERMISSIONS: Final = range(2, 4)

_Rule: TypeAlias = tuple[int, str, int, str, str, int, int]


def create_acls(
    view: View, request: CreateAclsRequest, random: Random
) -> Decision[CreateAclsResponse]:
    existing = {_rule(each) for each in view.image.acls.values()}
    records: list[MetadataRecord] = []
    results = []
    for asked in request.creations:
        code, message = ErrorCode.NONE, None
        try:
            _check(asked)
            record = _record(asked, random_uuid(random))
            if _rule(record) not in existing:
                check_record_count([*records, record])
                existing.add(_rule(record))
                records.append(record)
        except RefusedError as refused:
            code, message = refused.code, refused.message
        results.append(AclCreationResult(error_code=code, error_message=message))
    return Decision(CreateAclsResponse(throttle_time_ms=0, results=results), records)


def delete_acls(view: View, request: DeleteAclsRequest) -> Decision[DeleteAclsResponse]:
    removed: dict[Uuid, None] = {}
    results = []
    for asked in request.filters:
        try:
            matching = _matching(view, asked, removed)
        except RefusedError as refused:
            results.append(_filtered(refused.code, refused.message, []))
        else:
            removed |= dict.fromkeys(each.id for each in matching)
            results.append(_filtered(ErrorCode.NONE, None, matching))
    records = [RemoveAccessControlEntryRecord(id=each) for each in removed]
    return Decision(DeleteAclsResponse(throttle_time_ms=0, filter_results=results), records)


def matches(asked: DeleteAclsFilter, acl: AccessControlEntryRecord) -> bool:
    return (
        asked.resource_type_filter in (ANY, acl.resource_type)
        and _matches_name(asked, acl)
        and asked.principal_filter in (None, acl.principal)
        and asked.host_filter in (None, acl.host)
        and asked.operation in (ANY, acl.operation)
        and asked.permission_type in (ANY, acl.permission_type)
    )


def _matches_name(asked: DeleteAclsFilter, acl: AccessControlEntryRecord) -> bool:
    kind, name = asked.pattern_type_filter, asked.resource_name_filter
    if kind not in (ANY, MATCH, acl.pattern_type):
        return False
    if name is None:
        return True
    if kind != MATCH:
        return name == acl.resource_name
    if acl.pattern_type == PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name in (name, WILDCARD)


def _matching(
    view: View, asked: DeleteAclsFilter, removed: dict[Uuid, None]
) -> list[AccessControlEntryRecord]:
    if UNKNOWN in (asked.resource_type_filter, asked.pattern_type_filter):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "Unknown patternFilter.")
    if UNKNOWN in (asked.operation, asked.permission_type):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "Unknown entryFilter.")
    matching = [each for each in view.image.acls.values() if matches(asked, each)]
    if len(removed.keys() | {each.id for each in matching}) > RECORDS_MAX:
        raise RefusedError(
            ErrorCode.POLICY_VIOLATION,
            f"Cannot remove more than {RECORDS_MAX} acls in a single delete operation.",
        )
    return matching


def _check(asked: AclCreation) -> None:
    for name, value, valid in (
        ("resourceType", asked.resource_type, _RESOURCE_TYPES),
        ("patternType", asked.resource_pattern_type, (LITERAL, PREFIXED)),
        ("operation", asked.operation, _OPERATIONS),
        ("permissionType", asked.permission_type, _PERMISSIONS),
    ):
        if value not in valid:
            told = {ANY: "ANY", MATCH: "MATCH"}.get(value, "UNKNOWN")
            raise RefusedError(ErrorCode.INVALID_REQUEST, f"Invalid {name} {told}")
    if not asked.resource_name:
        raise RefusedError(ErrorCode.INVALID_REQUEST, "Resource name should not be empty")
    if asked.resource_type == CLUSTER and asked.resource_name != CLUSTER_NAME:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}",
        )


def _record(asked: AclCreation, acl_id: Uuid) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=acl_id,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
        pattern_type=asked.resource_pattern_type,
        principal=asked.principal,
        host=asked.host,
        operation=asked.operation,
        permission_type=asked.permission_type,
    )


def _rule(acl: AccessControlEntryRecord) -> _Rule:
    """All of it but its id."""
    return (
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission_type,
    )


def _filtered(
    code: ErrorCode, message: str | None, matching: list[AccessControlEntryRecord]
) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(
        error_code=code,
        error_message=message,
        matching_acls=[
            DeleteAclsMatchingAcl(
                error_code=ErrorCode.NONE,
                error_message=None,
                resource_type=each.resource_type,
                resource_name=each.resource_name,
                pattern_type=each.pattern_type,
                principal=each.principal,
                host=each.host,
                operation=each.operation,
                permission_type=each.permission_type,
            )
            for each in matching
        ],
    )
