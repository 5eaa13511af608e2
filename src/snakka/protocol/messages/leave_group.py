"""LeaveGroup (key 13): end memberships of a classic group.

KIP-345 many members at once (v3), KIP-800 reasons (v5).
"""

from snakka.protocol.schema import Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32


class MemberIdentity(Struct):
    member_id: str
    group_instance_id: str | None = None
    reason: str | None = field("5+", default=None, ignorable=True)


class LeaveGroupRequest(Request, key=13, versions="0-5", flexible="4+"):
    group_id: str
    member_id: str = field("0-2")
    members: list[MemberIdentity] = field("3+")


class MemberResponse(Struct):
    member_id: str
    group_instance_id: str | None
    error_code: Int16


class LeaveGroupResponse(Response, key=13, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16
    members: list[MemberResponse] = field("3+")
