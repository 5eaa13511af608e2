"""FindCoordinator (key 10): which broker coordinates a group, a transactional id or a share
partition.

KIP-699 many keys at once (v4), KIP-932 share partitions (v6).
"""

from snakka.protocol.schema import Request, Response, Struct, field
from snakka.protocol.types import Int8, Int16, Int32


class FindCoordinatorRequest(Request, key=10, versions="0-6", flexible="3+"):
    key: str = field("0-3")
    key_type: Int8 = field("1+", default=0)
    coordinator_keys: list[str] = field("4+")


class Coordinator(Struct):
    key: str
    node_id: Int32
    host: str
    port: Int32
    error_code: Int16
    error_message: str | None


class FindCoordinatorResponse(Response, key=10, versions="0-6", flexible="3+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16 = field("0-3")
    error_message: str | None = field("1-3", ignorable=True)
    node_id: Int32 = field("0-3")
    host: str = field("0-3")
    port: Int32 = field("0-3")
    coordinators: list[Coordinator] = field("4+")
