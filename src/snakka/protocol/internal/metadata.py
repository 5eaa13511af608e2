"""The records of the metadata log (KIP-631): what the cluster is, one change at a time."""

from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Float64, Int8, Int16, Int32, Int64, UInt16, Uuid


class BrokerEndpoint(Struct):
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


class BrokerFeature(Struct):
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterBrokerRecord(MetadataRecord, key=0, versions="0-4", flexible="0+"):
    broker_id: Int32
    is_migrating_zk_broker: bool = field("2+", default=False)
    incarnation_id: Uuid
    broker_epoch: Int64
    end_points: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: str | None
    fenced: bool = True
    in_controlled_shutdown: bool = field("1+", default=False)
    log_dirs: list[Uuid] = field("3+", tag=0)
    cordoned_log_dirs: list[Uuid] | None = field("4+", default=None, tag=1)


class UnregisterBrokerRecord(MetadataRecord, key=1, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64


class TopicRecord(MetadataRecord, key=2, versions="0", flexible="0+"):
    name: str
    topic_id: Uuid


class PartitionRecord(MetadataRecord, key=3, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid
    replicas: list[Int32]
    isr: list[Int32]
    removing_replicas: list[Int32]
    adding_replicas: list[Int32]
    leader: Int32 = -1
    leader_recovery_state: Int8 = field(default=0, tag=0)
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: list[Uuid] = field("1+")
    eligible_leader_replicas: list[Int32] | None = field("2+", default=None, tag=1)
    last_known_elr: list[Int32] | None = field("2+", default=None, tag=2)


class ConfigRecord(MetadataRecord, key=4, versions="0", flexible="0+"):
    resource_type: Int8
    resource_name: str
    name: str
    value: str | None


class PartitionChangeRecord(MetadataRecord, key=5, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid
    isr: list[Int32] | None = field(default=None, tag=0)
    leader: Int32 = field(default=-2, tag=1)
    replicas: list[Int32] | None = field(default=None, tag=2)
    removing_replicas: list[Int32] | None = field(default=None, tag=3)
    adding_replicas: list[Int32] | None = field(default=None, tag=4)
    leader_recovery_state: Int8 = field(default=-1, tag=5)
    directories: list[Uuid] | None = field("1+", default=None, tag=8)
    eligible_leader_replicas: list[Int32] | None = field("2+", default=None, tag=6)
    last_known_elr: list[Int32] | None = field("2+", default=None, tag=7)


class FenceBrokerRecord(MetadataRecord, key=7, versions="0", flexible="0+"):
    id: Int32
    epoch: Int64


class UnfenceBrokerRecord(MetadataRecord, key=8, versions="0", flexible="0+"):
    id: Int32
    epoch: Int64


class RemoveTopicRecord(MetadataRecord, key=9, versions="0", flexible="0+"):
    topic_id: Uuid


class DelegationTokenRecord(MetadataRecord, key=10, versions="0", flexible="0+"):
    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: Int64
    max_timestamp: Int64
    expiration_timestamp: Int64
    token_id: str


class UserScramCredentialRecord(MetadataRecord, key=11, versions="0", flexible="0+"):
    name: str
    mechanism: Int8
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: Int32


class FeatureLevelRecord(MetadataRecord, key=12, versions="0", flexible="0+"):
    name: str
    feature_level: Int16


class EntityData(Struct):
    entity_type: str
    entity_name: str | None


class ClientQuotaRecord(MetadataRecord, key=14, versions="0", flexible="0+"):
    entity: list[EntityData]
    key: str
    value: Float64
    remove: bool


class ProducerIdsRecord(MetadataRecord, key=15, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    next_producer_id: Int64


class BrokerRegistrationChangeRecord(MetadataRecord, key=17, versions="0-3", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64
    fenced: Int8 = field(tag=0)
    in_controlled_shutdown: Int8 = field("1+", tag=1)
    log_dirs: list[Uuid] = field("2+", tag=2)
    cordoned_log_dirs: list[Uuid] | None = field("3+", default=None, tag=3)


class AccessControlEntryRecord(MetadataRecord, key=18, versions="0", flexible="0+"):
    id: Uuid
    resource_type: Int8
    resource_name: str
    pattern_type: Int8
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


class RemoveAccessControlEntryRecord(MetadataRecord, key=19, versions="0", flexible="0+"):
    id: Uuid


class NoOpRecord(MetadataRecord, key=20, versions="0", flexible="0+"):
    """No fields."""


class ZkMigrationStateRecord(MetadataRecord, key=21, versions="0", flexible="0+"):
    zk_migration_state: Int8


class RemoveUserScramCredentialRecord(MetadataRecord, key=22, versions="0", flexible="0+"):
    name: str
    mechanism: Int8


class BeginTransactionRecord(MetadataRecord, key=23, versions="0", flexible="0+"):
    name: str | None = field(default=None, tag=0)


class EndTransactionRecord(MetadataRecord, key=24, versions="0", flexible="0+"):
    """No fields."""


class AbortTransactionRecord(MetadataRecord, key=25, versions="0", flexible="0+"):
    reason: str | None = field(default=None, tag=0)


class RemoveDelegationTokenRecord(MetadataRecord, key=26, versions="0", flexible="0+"):
    token_id: str


class ControllerEndpoint(Struct):
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


class ControllerFeature(Struct):
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


class RegisterControllerRecord(MetadataRecord, key=27, versions="0", flexible="0+"):
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: bool
    end_points: list[ControllerEndpoint]
    features: list[ControllerFeature]


class ClearElrRecord(MetadataRecord, key=28, versions="0", flexible="0+"):
    topic_name: str
