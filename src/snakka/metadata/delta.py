"""What happens to the cluster between two images, record by record.

A delta starts from an image, replays records, and yields the next image. Subscribers get both: the
image to read, the delta to see what is new. `replay` is the only way by which metadata changes,
for a broker that follows the log as for the controller that writes it.

Not here: metadata transactions (loader.py), which only say when an image may be shown.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from snakka.metadata.brokers import Broker
from snakka.metadata.errors import ReplayError
from snakka.metadata.image import MetadataImage, Provenance
from snakka.metadata.keys import ConfigResource, QuotaEntity, ScramKey, quota_entity
from snakka.metadata.shared_map import MapDelta
from snakka.metadata.topics_delta import TopicsDelta
from snakka.metadata.versions import METADATA_VERSION, SUPPORTED_FEATURES
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
    ZkMigrationStateRecord,
)

_FENCE: Final = 1
_UNFENCE: Final = -1


class MetadataDelta:
    """Every part reads as it will be; what it was is in `image`."""

    def __init__(self, image: MetadataImage) -> None:
        self.image = image
        self.features = MapDelta(image.features)
        self.brokers = MapDelta(image.brokers)
        self.controllers = MapDelta(image.controllers)
        self.topics = TopicsDelta(image.topics)
        self.configs = MapDelta(image.configs)
        self.client_quotas = MapDelta(image.client_quotas)
        self.producer_ids = image.producer_ids
        self.acls = MapDelta(image.acls)
        self.scram = MapDelta(image.scram)
        self.delegation_tokens = MapDelta(image.delegation_tokens)

    def replay(self, record: MetadataRecord) -> None:
        apply = _REPLAYS.get(type(record))
        if apply is None:
            raise ReplayError(f"{record} is of no known type")
        apply(self, record)

    def after(self, provenance: Provenance) -> MetadataImage:
        """The image once these records are in it."""
        return MetadataImage(
            provenance=provenance,
            features=self.features.after(),
            brokers=self.brokers.after(),
            controllers=self.controllers.after(),
            topics=self.topics.after(),
            configs=self.configs.after(),
            client_quotas=self.client_quotas.after(),
            producer_ids=self.producer_ids,
            acls=self.acls.after(),
            scram=self.scram.after(),
            delegation_tokens=self.delegation_tokens.after(),
        )

    def _feature_level(self, record: FeatureLevelRecord) -> None:
        supported = SUPPORTED_FEATURES.get(record.name)
        if supported is None or not 0 <= record.feature_level <= supported.max:
            raise ReplayError(f"{record} is of a level that this version of Snakka does not know")
        if record.feature_level == 0:
            self.features.remove(record.name)
        elif record.name == METADATA_VERSION and record.feature_level not in supported:
            raise ReplayError(f"{record} is of a level older than Kafka 4 reads")
        else:
            self.features.set(record.name, record.feature_level)

    def _register_broker(self, record: RegisterBrokerRecord) -> None:
        self.brokers.set(record.broker_id, Broker.of(record))

    def _unregister_broker(self, record: UnregisterBrokerRecord) -> None:
        self._registered(record, record.broker_id, record.broker_epoch)
        self.brokers.remove(record.broker_id)

    def _change_broker(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self._registered(record, record.broker_id, record.broker_epoch)
        self.brokers.set(record.broker_id, broker.after(record))

    def _fence_broker(self, record: FenceBrokerRecord | UnfenceBrokerRecord) -> None:
        fenced = _FENCE if isinstance(record, FenceBrokerRecord) else _UNFENCE
        self._change_broker(
            BrokerRegistrationChangeRecord(
                broker_id=record.id,
                broker_epoch=record.epoch,
                fenced=fenced,
                in_controlled_shutdown=0,
            )
        )

    def _registered(self, record: MetadataRecord, broker_id: int, epoch: int) -> Broker:
        broker = self.brokers.get(broker_id)
        if broker is None or broker.epoch != epoch:
            raise ReplayError(f"{record} is of no registration in force")
        return broker

    def _register_controller(self, record: RegisterControllerRecord) -> None:
        self.controllers.set(record.controller_id, record)

    def _create_topic(self, record: TopicRecord) -> None:
        self.topics.create(record)

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        self.configs.remove(ConfigResource.topic(self.topics.remove(record)))

    def _partition(self, record: PartitionRecord) -> None:
        self.topics.set_partition(record)

    def _change_partition(self, record: PartitionChangeRecord) -> None:
        self.topics.change_partition(record)

    def _clear_elr(self, record: ClearElrRecord) -> None:
        self.topics.clear_elr(record)

    def _config(self, record: ConfigRecord) -> None:
        resource = ConfigResource(record.resource_type, record.resource_name)
        _change_entry(self.configs, resource, record.name, record.value)

    def _client_quota(self, record: ClientQuotaRecord) -> None:
        entity: QuotaEntity = quota_entity(
            (each.entity_type, each.entity_name) for each in record.entity
        )
        value = None if record.remove else record.value
        _change_entry(self.client_quotas, entity, record.key, value)

    def _producer_ids(self, record: ProducerIdsRecord) -> None:
        self.producer_ids = record

    def _acl(self, record: AccessControlEntryRecord) -> None:
        self.acls.set(record.id, record)

    def _remove_acl(self, record: RemoveAccessControlEntryRecord) -> None:
        if self.acls.get(record.id) is None:
            raise ReplayError(f"{record} is of no access rule")
        self.acls.remove(record.id)

    def _scram(self, record: UserScramCredentialRecord) -> None:
        self.scram.set(ScramKey(record.name, record.mechanism), record)

    def _remove_scram(self, record: RemoveUserScramCredentialRecord) -> None:
        self.scram.remove(ScramKey(record.name, record.mechanism))

    def _delegation_token(self, record: DelegationTokenRecord) -> None:
        self.delegation_tokens.set(record.token_id, record)

    def _remove_delegation_token(self, record: RemoveDelegationTokenRecord) -> None:
        self.delegation_tokens.remove(record.token_id)

    def _nothing(self, record: MetadataRecord) -> None:
        """Says nothing of the cluster."""


def _change_entry(parts: MapDelta[Any, Any], key: Any, name: str, value: object) -> None:
    """Sets one of a part's values or, with None, removes it; a part without any is gone."""
    entries = dict(parts.get(key) or {})
    if value is None:
        entries.pop(name, None)
    else:
        entries[name] = value
    if entries:
        parts.set(key, entries)
    else:
        parts.remove(key)


_REPLAYS: Final[Mapping[type[MetadataRecord], Callable[[MetadataDelta, Any], None]]] = (
    MappingProxyType(
        {
            FeatureLevelRecord: MetadataDelta._feature_level,
            RegisterBrokerRecord: MetadataDelta._register_broker,
            UnregisterBrokerRecord: MetadataDelta._unregister_broker,
            BrokerRegistrationChangeRecord: MetadataDelta._change_broker,
            FenceBrokerRecord: MetadataDelta._fence_broker,
            UnfenceBrokerRecord: MetadataDelta._fence_broker,
            RegisterControllerRecord: MetadataDelta._register_controller,
            TopicRecord: MetadataDelta._create_topic,
            RemoveTopicRecord: MetadataDelta._remove_topic,
            PartitionRecord: MetadataDelta._partition,
            PartitionChangeRecord: MetadataDelta._change_partition,
            ClearElrRecord: MetadataDelta._clear_elr,
            ConfigRecord: MetadataDelta._config,
            ClientQuotaRecord: MetadataDelta._client_quota,
            ProducerIdsRecord: MetadataDelta._producer_ids,
            AccessControlEntryRecord: MetadataDelta._acl,
            RemoveAccessControlEntryRecord: MetadataDelta._remove_acl,
            UserScramCredentialRecord: MetadataDelta._scram,
            RemoveUserScramCredentialRecord: MetadataDelta._remove_scram,
            DelegationTokenRecord: MetadataDelta._delegation_token,
            RemoveDelegationTokenRecord: MetadataDelta._remove_delegation_token,
            NoOpRecord: MetadataDelta._nothing,
            ZkMigrationStateRecord: MetadataDelta._nothing,
            BeginTransactionRecord: MetadataDelta._nothing,
            EndTransactionRecord: MetadataDelta._nothing,
            AbortTransactionRecord: MetadataDelta._nothing,
        }
    )
)
