"""An image as records, in the order in which a snapshot holds them.

Replayed into an empty image they make the same image. The level comes first, since it says what
the records after it may hold.
"""

from collections.abc import Iterable, Iterator

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, MetadataImage, Provenance, Topic
from snakka.metadata.keys import quota_entity_data
from snakka.metadata.versions import METADATA_VERSION
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    ClientQuotaRecord,
    ConfigRecord,
    FeatureLevelRecord,
    TopicRecord,
)


def snapshot_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    yield from _features(image)
    for broker in image.brokers.values():
        yield broker.record()
    yield from image.controllers.values()
    for topic in image.topics.by_id.values():
        yield from _topic(topic)
    yield from _configs(image)
    yield from _client_quotas(image)
    if image.producer_ids is not None:
        yield image.producer_ids
    yield from image.acls.values()
    yield from image.scram.values()
    yield from image.delegation_tokens.values()


def image_of(records: Iterable[MetadataRecord], provenance: Provenance) -> MetadataImage:
    """The image that a snapshot holds."""
    delta = MetadataDelta(EMPTY)
    for record in records:
        delta.replay(record)
    return delta.after(provenance)


def _features(image: MetadataImage) -> Iterator[FeatureLevelRecord]:
    # False sorts before True.
    for name in sorted(image.features, key=lambda each: (each != METADATA_VERSION, each)):
        yield FeatureLevelRecord(name=name, feature_level=image.features[name])


def _topic(topic: Topic) -> Iterator[MetadataRecord]:
    yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
    for partition_id, partition in sorted(topic.partitions.items()):
        yield partition.record(topic.topic_id, partition_id)


def _configs(image: MetadataImage) -> Iterator[ConfigRecord]:
    for resource, entries in image.configs.items():
        for name, value in entries.items():
            yield ConfigRecord(
                resource_type=resource.type, resource_name=resource.name, name=name, value=value
            )


def _client_quotas(image: MetadataImage) -> Iterator[ClientQuotaRecord]:
    for entity, entries in image.client_quotas.items():
        for key, value in entries.items():
            yield ClientQuotaRecord(
                entity=quota_entity_data(entity), key=key, value=value, remove=False
            )
