"""DescribeAcls (key 29): access rules that match a filter."""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int8, Int16, Int32


class DescribeAclsRequest(Request, key=29, versions="1-3", flexible="2+", listeners=Listeners.BOTH):
    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = 3
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


class AclDescription(Struct):
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


class DescribeAclsResource(Struct):
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = 3
    acls: list[AclDescription]


class DescribeAclsResponse(Response, key=29, versions="1-3", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    resources: list[DescribeAclsResource]
