"""DescribeGroups (key 15): state, members and assignments of classic groups.

KIP-430 authorized operations (v3), KIP-1043 a clear answer for other groups (v6).
"""

from snakka.protocol.schema import Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32


class DescribeGroupsRequest(Request, key=15, versions="0-6", flexible="5+"):
    groups: list[str]
    include_authorized_operations: bool = field("3+")


class DescribedGroupMember(Struct):
    member_id: str
    group_instance_id: str | None = field("4+", default=None, ignorable=True)
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


class DescribedGroup(Struct):
    error_code: Int16
    error_message: str | None = field("6+", default=None)
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = field("3+", default=-2147483648)


class DescribeGroupsResponse(Response, key=15, versions="0-6", flexible="5+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    groups: list[DescribedGroup]
