"""Heartbeat (key 12): stay a member of a classic group.

KIP-345 static members (v3).
"""

from snakka.protocol.schema import Request, Response, field
from snakka.protocol.types import Int16, Int32


class HeartbeatRequest(Request, key=12, versions="0-4", flexible="4+"):
    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = field("3+", default=None)


class HeartbeatResponse(Response, key=12, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16
