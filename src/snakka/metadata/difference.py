"""The delta between two images of which nobody has the records, as when a snapshot is installed."""

from typing import TypeVar

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import MetadataImage, Topics
from snakka.metadata.shared_map import MapDelta, SharedMap
from snakka.metadata.topics_delta import TopicDelta, TopicsDelta

K = TypeVar("K")
V = TypeVar("V")


def difference(before: MetadataImage, after: MetadataImage) -> MetadataDelta:
    delta = MetadataDelta(before)
    delta.features = _between(before.features, after.features)
    delta.brokers = _between(before.brokers, after.brokers)
    delta.controllers = _between(before.controllers, after.controllers)
    delta.topics = _between_topics(before.topics, after.topics)
    delta.configs = _between(before.configs, after.configs)
    delta.client_quotas = _between(before.client_quotas, after.client_quotas)
    delta.producer_ids = after.producer_ids
    delta.acls = _between(before.acls, after.acls)
    delta.scram = _between(before.scram, after.scram)
    delta.delegation_tokens = _between(before.delegation_tokens, after.delegation_tokens)
    return delta


def _between(before: SharedMap[K, V], after: SharedMap[K, V]) -> MapDelta[K, V]:
    delta = MapDelta(before)
    for key, value in after.items():
        if before.get(key) != value:
            delta.set(key, value)
    for key in before:
        if key not in after:
            delta.remove(key)
    return delta


def _between_topics(before: Topics, after: Topics) -> TopicsDelta:
    delta = TopicsDelta(before)
    delta.ids = _between(before.ids, after.ids)
    delta.removed = {
        topic_id: topic for topic_id, topic in before.by_id.items() if topic_id not in after.by_id
    }
    for topic_id, topic in after.by_id.items():
        was = before.by_id.get(topic_id)
        changed = TopicDelta(topic.name, topic_id, was)
        changed.partitions = _between(changed.partitions.before, topic.partitions)
        if was is None or changed.partitions:
            delta.changed[topic_id] = changed
    return delta
