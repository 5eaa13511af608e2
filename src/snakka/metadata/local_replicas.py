"""What a delta means for one broker: which partitions it leads, follows, or has to let go.

Not here: doing it (replication/).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import MetadataImage, Topic
from snakka.metadata.partition import Partition
from snakka.protocol.types import Uuid


class TopicPartition(NamedTuple):
    topic_id: Uuid
    topic: str
    partition_id: int


@dataclass(frozen=True, slots=True)
class LocalReplicaChanges:
    """`elected` and `following` are of a new leader epoch, and so are to be started anew.

    `leaders` and `followers` have everything that changed, these included.
    """

    deleted: list[TopicPartition] = field(default_factory=list)
    leaders: dict[TopicPartition, Partition] = field(default_factory=dict)
    followers: dict[TopicPartition, Partition] = field(default_factory=dict)
    elected: dict[TopicPartition, Partition] = field(default_factory=dict)
    following: dict[TopicPartition, Partition] = field(default_factory=dict)


def local_changes(delta: MetadataDelta, broker_id: int) -> LocalReplicaChanges:
    changes = LocalReplicaChanges()
    for topic in delta.topics.removed.values():
        changes.deleted.extend(_replicas_of(topic, broker_id))
    for changed in delta.topics.changed.values():
        for partition_id, before, after in changed.changed():
            where = TopicPartition(changed.topic_id, changed.name, partition_id)
            _add(changes, where, before, after, broker_id)
    return changes


def partitions_of(
    image: MetadataImage, broker_id: int
) -> Iterator[tuple[TopicPartition, Partition]]:
    """All partitions that the broker has a replica of."""
    for topic in image.topics.by_id.values():
        for partition_id, partition in topic.partitions.items():
            if broker_id in partition.replicas:
                yield TopicPartition(topic.topic_id, topic.name, partition_id), partition


def _replicas_of(topic: Topic, broker_id: int) -> list[TopicPartition]:
    return [
        TopicPartition(topic.topic_id, topic.name, partition_id)
        for partition_id, partition in topic.partitions.items()
        if broker_id in partition.replicas
    ]


def _add(
    changes: LocalReplicaChanges,
    where: TopicPartition,
    before: Partition | None,
    after: Partition,
    broker_id: int,
) -> None:
    if broker_id not in after.replicas:
        if before is not None and broker_id in before.replicas:
            changes.deleted.append(where)
        return
    was_replica = before is not None and broker_id in before.replicas
    is_anew = not was_replica or before is None or before.leader_epoch != after.leader_epoch
    if after.leader == broker_id:
        changes.leaders[where] = after
        if is_anew:
            changes.elected[where] = after
    else:
        changes.followers[where] = after
        if is_anew:
            changes.following[where] = after
