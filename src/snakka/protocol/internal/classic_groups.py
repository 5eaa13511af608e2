"""Records of `__consumer_offsets` that hold classic groups."""

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Int32, Int64


class GroupMetadataKey(CoordinatorKey, key=2, versions="0"):
    group: str


class MemberMetadata(Struct):
    member_id: str
    group_instance_id: str | None = field("3+", default=None, ignorable=True)
    client_id: str
    client_host: str
    rebalance_timeout: Int32 = field("1+", default=-1, ignorable=True)
    session_timeout: Int32
    subscription: bytes
    assignment: bytes


class GroupMetadataValue(CoordinatorValue, key=2, versions="0-4", flexible="4+"):
    protocol_type: str
    generation: Int32
    protocol: str | None
    leader: str | None
    current_state_timestamp: Int64 = field("2+", default=-1, ignorable=True)
    members: list[MemberMetadata]
