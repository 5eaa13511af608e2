"""What happens to topics: those that came, those that went, and the partitions that changed.

Invariant: a topic's id is never used twice, and a topic that came and went within one delta
leaves no trace in it.
"""

from collections.abc import Iterator

from snakka.metadata.errors import ReplayError
from snakka.metadata.image import Topic, Topics
from snakka.metadata.partition import Partition
from snakka.metadata.shared_map import MapDelta, SharedMap
from snakka.protocol.internal.metadata import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from snakka.protocol.types import Uuid, format_uuid

_NO_PARTITIONS: SharedMap[int, Partition] = SharedMap()


class TopicDelta:
    """One topic that is new, or of which some partitions change."""

    __slots__ = ("before", "name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: Uuid, before: Topic | None) -> None:
        self.name = name
        self.topic_id = topic_id
        self.before = before
        self.partitions = MapDelta(_NO_PARTITIONS if before is None else before.partitions)

    def change(self, record: PartitionChangeRecord) -> None:
        partition = self.partitions.get(record.partition_id)
        if partition is None:
            raise ReplayError(f"{record} changes a partition that topic {self.name} has not")
        self.partitions.set(record.partition_id, partition.after(record))

    def clear_elr(self) -> None:
        partition_ids = {*self.partitions.before, *self.partitions.changes}
        for partition_id in partition_ids:
            partition = self.partitions.get(partition_id)
            assert partition is not None  # partitions are never removed from a topic
            cleared = partition.without_elr()
            if cleared is not partition:
                self.partitions.set(partition_id, cleared)

    def changed(self) -> Iterator[tuple[int, Partition | None, Partition]]:
        """The partitions that changed, before (None for a new one) and after."""
        for partition_id, after in self.partitions.changes.items():
            assert after is not None
            yield partition_id, self.partitions.before.get(partition_id), after

    def after(self) -> Topic:
        return Topic(self.name, self.topic_id, self.partitions.after())


class TopicsDelta:
    """`changed` has new and changed topics, `removed` the topics as they were."""

    __slots__ = ("before", "changed", "ids", "removed")

    def __init__(self, before: Topics) -> None:
        self.before = before
        self.changed: dict[Uuid, TopicDelta] = {}
        self.removed: dict[Uuid, Topic] = {}
        self.ids: MapDelta[str, Uuid] = MapDelta(before.ids)

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)

    def created(self) -> Iterator[TopicDelta]:
        return (topic for topic in self.changed.values() if topic.before is None)

    def create(self, record: TopicRecord) -> None:
        if self.ids.get(record.name) is not None or self._find(record.topic_id) is not None:
            raise ReplayError(f"{record} repeats a topic")
        self.changed[record.topic_id] = TopicDelta(record.name, record.topic_id, None)
        self.ids.set(record.name, record.topic_id)

    def set_partition(self, record: PartitionRecord) -> None:
        self._get(record.topic_id).partitions.set(record.partition_id, Partition.of(record))

    def change_partition(self, record: PartitionChangeRecord) -> None:
        self._get(record.topic_id).change(record)

    def remove(self, record: RemoveTopicRecord) -> str:
        """Returns the topic's name."""
        topic = self._get(record.topic_id)
        del self.changed[record.topic_id]
        if topic.before is not None:
            self.removed[record.topic_id] = topic.before
        self.ids.remove(topic.name)
        return topic.name

    def clear_elr(self, record: ClearElrRecord) -> None:
        """Of one topic, or without a name of all."""
        if record.topic_name:
            topic_id = self.ids.get(record.topic_name)
            if topic_id is None:
                raise ReplayError(f"{record} names a topic that is not there")
            self._get(topic_id).clear_elr()
            return
        for topic_id in {*self.before.by_id, *self.changed} - self.removed.keys():
            self._get(topic_id).clear_elr()

    def after(self) -> Topics:
        if not self:
            return self.before
        changes: dict[Uuid, Topic | None] = dict.fromkeys(self.removed)
        for topic_id, topic in self.changed.items():
            if topic.before is None or topic.partitions:
                changes[topic_id] = topic.after()
        return Topics(self.before.by_id.after(changes), self.ids.after())

    def _find(self, topic_id: Uuid) -> TopicDelta | None:
        found = self.changed.get(topic_id)
        if found is not None or topic_id in self.removed:
            return found
        before = self.before.by_id.get(topic_id)
        return None if before is None else TopicDelta(before.name, topic_id, before)

    def _get(self, topic_id: Uuid) -> TopicDelta:
        topic = self._find(topic_id)
        if topic is None:
            raise ReplayError(f"topic {format_uuid(topic_id)} is not there")
        self.changed[topic_id] = topic
        return topic
