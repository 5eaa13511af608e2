"""DeleteGroups (key 42): remove empty groups."""

from snakka.protocol.schema import Request, Response, Struct
from snakka.protocol.types import Int16, Int32


class DeleteGroupsRequest(Request, key=42, versions="0-2", flexible="2+"):
    groups_names: list[str]


class DeletableGroupResult(Struct):
    group_id: str
    error_code: Int16


class DeleteGroupsResponse(Response, key=42, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32
    results: list[DeletableGroupResult]
