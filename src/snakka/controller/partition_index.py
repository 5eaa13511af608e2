"""Where partitions are, kept beside the image, so that losing a broker does not visit them all.

Soft: built from an image by the controller that becomes active, then told every delta. The order
is that in which partitions came, so that the same log gives the same decisions.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import MetadataImage
from snakka.metadata.partition import Partition
from snakka.protocol.types import Uuid


class PartitionKey(NamedTuple):
    topic_id: Uuid
    partition_id: int


_Ordered: TypeAlias = dict[PartitionKey, None]


class PartitionIndex:
    """`leaderless`, `imbalanced` and `reassigning` say it of themselves."""

    def __init__(self, image: MetadataImage) -> None:
        self._hosted: dict[int, _Ordered] = {}
        self.leaderless: _Ordered = {}
        self.imbalanced: _Ordered = {}
        self.reassigning: _Ordered = {}
        for topic in image.topics.by_id.values():
            for partition_id, partition in topic.partitions.items():
                self._set(PartitionKey(topic.topic_id, partition_id), None, partition)

    def update(self, delta: MetadataDelta) -> None:
        for topic in delta.topics.removed.values():
            for partition_id, partition in topic.partitions.items():
                self._set(PartitionKey(topic.topic_id, partition_id), partition, None)
        for changed in delta.topics.changed.values():
            for partition_id, before, after in changed.changed():
                self._set(PartitionKey(changed.topic_id, partition_id), before, after)

    def hosted(self, broker_id: int) -> Iterator[PartitionKey]:
        """The partitions of which a broker has a replica."""
        return iter(tuple(self._hosted.get(broker_id, ())))

    def _set(self, key: PartitionKey, before: Partition | None, after: Partition | None) -> None:
        was = () if before is None else before.replicas
        now = () if after is None else after.replicas
        if was != now:
            for broker_id in was:
                self._hosted[broker_id].pop(key, None)
            for broker_id in now:
                self._hosted.setdefault(broker_id, {})[key] = None
        _mark(self.leaderless, key, after is not None and not after.has_leader)
        _mark(self.imbalanced, key, after is not None and not after.has_preferred_leader)
        _mark(self.reassigning, key, after is not None and after.is_reassigning)


def _mark(marked: _Ordered, key: PartitionKey, is_so: bool) -> None:
    if is_so:
        marked[key] = None
    else:
        marked.pop(key, None)
