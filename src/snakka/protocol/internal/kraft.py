"""The control records of a KRaft log: leaders, snapshots, the protocol's version and voters.

KIP-595, KIP-630, KIP-853. Their keys say a control type and are read by records/control.py.
"""

from snakka.protocol.schema import Message, Struct, field
from snakka.protocol.types import Int16, Int32, Int64, UInt16, Uuid


class LeaderChangeMessageVoter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid = field("1+")


class LeaderChangeMessage(Message, versions="0-1", flexible="0+"):
    version: Int16
    leader_id: Int32
    voters: list[LeaderChangeMessageVoter]
    granting_voters: list[LeaderChangeMessageVoter]


class SnapshotHeaderRecord(Message, versions="0", flexible="0+"):
    version: Int16
    last_contained_log_timestamp: Int64


class SnapshotFooterRecord(Message, versions="0", flexible="0+"):
    version: Int16


class KRaftVersionRecord(Message, versions="0", flexible="0+"):
    version: Int16
    kraft_version: Int16


class Endpoint(Struct):
    name: str
    host: str
    port: UInt16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class VotersVoter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid
    endpoints: list[Endpoint]
    kraft_version_feature: KRaftVersionFeature


class VotersRecord(Message, versions="0", flexible="0+"):
    version: Int16
    voters: list[VotersVoter]
