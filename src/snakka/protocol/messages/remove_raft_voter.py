"""RemoveRaftVoter (key 81): remove a voter from a quorum.

KIP-853.
"""

from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Int16, Int32, Uuid


class RemoveRaftVoterRequest(
    Request, key=81, versions="0", flexible="0+", listeners=Listeners.BOTH
):
    cluster_id: str | None
    voter_id: Int32
    voter_directory_id: Uuid


class RemoveRaftVoterResponse(Response, key=81, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
