"""The cluster at one point of its metadata log. Immutable: who holds an image is never surprised.

An image shares with the one before it whatever did not change (shared_map.py). Where a record says
all there is to say of a thing, the record itself is what is kept; brokers, topics and partitions,
which later records change in part, have classes of their own.

Not here: how records change it (delta.py), how it is written as records (snapshot.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from snakka.metadata.brokers import Broker
from snakka.metadata.keys import ConfigResource, QuotaEntity, ScramKey
from snakka.metadata.partition import Partition
from snakka.metadata.shared_map import SharedMap
from snakka.metadata.versions import METADATA_VERSION, OLDEST, MetadataVersion
from snakka.protocol.internal.metadata import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    ProducerIdsRecord,
    RegisterControllerRecord,
    UserScramCredentialRecord,
)
from snakka.protocol.types import Uuid


class Provenance(NamedTuple):
    """The last record that went into an image."""

    offset: int = -1
    epoch: int = -1
    timestamp_ms: int = -1


_START = Provenance()


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    topic_id: Uuid
    partitions: SharedMap[int, Partition]


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics, by id and by name."""

    by_id: SharedMap[Uuid, Topic] = field(default_factory=SharedMap)
    ids: SharedMap[str, Uuid] = field(default_factory=SharedMap)

    def __len__(self) -> int:
        return len(self.by_id)

    def find(self, name: str) -> Topic | None:
        topic_id = self.ids.get(name)
        return None if topic_id is None else self.by_id.get(topic_id)

    def find_partition(self, topic_id: Uuid, partition_id: int) -> Partition | None:
        topic = self.by_id.get(topic_id)
        return None if topic is None else topic.partitions.get(partition_id)


@dataclass(frozen=True, slots=True)
class MetadataImage:
    """`features` are the levels in force; one that is off is not in it."""

    provenance: Provenance = _START
    features: SharedMap[str, int] = field(default_factory=SharedMap)
    brokers: SharedMap[int, Broker] = field(default_factory=SharedMap)
    controllers: SharedMap[int, RegisterControllerRecord] = field(default_factory=SharedMap)
    topics: Topics = field(default_factory=Topics)
    configs: SharedMap[ConfigResource, Mapping[str, str]] = field(default_factory=SharedMap)
    client_quotas: SharedMap[QuotaEntity, Mapping[str, float]] = field(default_factory=SharedMap)
    producer_ids: ProducerIdsRecord | None = None
    acls: SharedMap[Uuid, AccessControlEntryRecord] = field(default_factory=SharedMap)
    scram: SharedMap[ScramKey, UserScramCredentialRecord] = field(default_factory=SharedMap)
    delegation_tokens: SharedMap[str, DelegationTokenRecord] = field(default_factory=SharedMap)

    @property
    def metadata_version(self) -> MetadataVersion:
        return MetadataVersion(self.features.get(METADATA_VERSION, OLDEST))

    @property
    def next_producer_id(self) -> int:
        return 0 if self.producer_ids is None else self.producer_ids.next_producer_id

    def is_active(self, broker_id: int) -> bool:
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def configs_of(self, resource: ConfigResource) -> Mapping[str, str]:
        return self.configs.get(resource) or {}


EMPTY = MetadataImage()
