"""What a decision sees.

The image has all records that this controller has written, committed or not: answers wait for the
commit, decisions do not. A controller that loses its leadership throws its view away.
"""

from dataclasses import dataclass, field

from snakka.controller.partition_index import PartitionIndex, PartitionKey
from snakka.controller.ports import ConfigRules
from snakka.controller.topic_names import TopicNames
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.directories import MIGRATING, UNASSIGNED
from snakka.metadata.image import MetadataImage, Topic
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.metadata.partition import Partition
from snakka.metadata.versions import ELR_VERSION
from snakka.protocol.types import Uuid


@dataclass(frozen=True, slots=True)
class Settings:
    """This controller's own configuration, as far as it decides by it."""

    cluster_id: str
    node_id: int
    default_partitions: int = 1  # num.partitions
    default_replication_factor: int = 1  # default.replication.factor
    quorum_ids: frozenset[int] = frozenset()


@dataclass(slots=True)
class View:
    """`next_offset` is that of the next record to be written: it makes broker epochs."""

    image: MetadataImage
    settings: Settings
    rules: ConfigRules
    next_offset: int = 0
    partitions: PartitionIndex = field(init=False)
    names: TopicNames = field(init=False)

    def __post_init__(self) -> None:
        self.partitions = PartitionIndex(self.image)
        self.names = TopicNames(self.image)

    def advance(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes in the records of a decision, as soon as they are written."""
        self.partitions.update(delta)
        self.names.update(delta)
        self.image = image
        self.next_offset = image.provenance.offset + 1

    def partition(self, key: PartitionKey) -> tuple[Topic, Partition]:
        topic = self.image.topics.by_id[key.topic_id]
        return topic, topic.partitions[key.partition_id]

    def topic_config(self, topic: str, name: str) -> str:
        """The value in force: the topic's, this node's, the cluster's, or the default."""
        for resource in (
            ConfigResource.topic(topic),
            ConfigResource.broker(self.settings.node_id),
            ConfigResource.broker(),
        ):
            found = self.image.configs_of(resource).get(name)
            if found is not None:
                return found
        return self.rules.default(ConfigType.TOPIC, name) or ""

    def min_isr(self, topic: Topic) -> int:
        """`min.insync.replicas`, but never more than there are replicas."""
        configured = int(self.topic_config(topic.name, "min.insync.replicas"))
        return min(configured, len(topic.partitions[0].replicas))

    def elects_uncleanly(self, topic: str) -> bool:
        return self.topic_config(topic, "unclean.leader.election.enable").lower() == "true"

    @property
    def has_elr(self) -> bool:
        return self.image.features.get(ELR_VERSION, 0) >= 1

    def default_dir(self, broker_id: int) -> Uuid:
        if not self.image.metadata_version.has_directories:
            return MIGRATING
        broker = self.image.brokers.get(broker_id)
        return UNASSIGNED if broker is None else broker.default_dir
