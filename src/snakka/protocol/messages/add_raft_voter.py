"""AddRaftVoter (key 80): add a voter to a quorum.

KIP-853.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, UInt16, Uuid


class Listener(Struct):
    name: str
    host: str
    port: UInt16


class AddRaftVoterRequest(Request, key=80, versions="0-1", flexible="0+", listeners=Listeners.BOTH):
    cluster_id: str | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    ack_when_committed: bool = field("1+", default=True)


class AddRaftVoterResponse(Response, key=80, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
