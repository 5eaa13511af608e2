"""UpdateRaftVoter (key 82): a voter changes its endpoints or the versions it supports.

KIP-853.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, UInt16, Uuid


class Listener(Struct):
    name: str
    host: str
    port: UInt16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class UpdateRaftVoterRequest(
    Request, key=82, versions="0", flexible="0+", listeners=Listeners.CONTROLLER
):
    cluster_id: str | None
    current_leader_epoch: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    kraft_version_feature: KRaftVersionFeature


class CurrentLeader(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1
    host: str
    port: Int32


class UpdateRaftVoterResponse(Response, key=82, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    current_leader: CurrentLeader = field(tag=0)
