"""CreateAcls (key 30): add access rules."""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int8, Int16, Int32


class AclCreation(Struct):
    resource_type: Int8
    resource_name: str
    resource_pattern_type: Int8 = 3
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


class CreateAclsRequest(Request, key=30, versions="1-3", flexible="2+", listeners=Listeners.BOTH):
    creations: list[AclCreation]


class AclCreationResult(Struct):
    error_code: Int16
    error_message: str | None


class CreateAclsResponse(Response, key=30, versions="1-3", flexible="2+"):
    throttle_time_ms: Int32
    results: list[AclCreationResult]
