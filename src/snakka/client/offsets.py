"""A group's positions, and who commits them."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple, TypeVar

from snakka.client.records import TopicPartition

_T = TypeVar("_T")

NO_EPOCH = -1


class CommittedOffset(NamedTuple):
    """The next offset to read, and what was noted with it."""

    offset: int
    leader_epoch: int = NO_EPOCH
    metadata: str = ""


class GroupMember(NamedTuple):
    """Who commits; without a member id, somebody from outside of the group."""

    group_id: str
    member_id: str = ""
    epoch: int = -1
    instance_id: str | None = None


def by_topic(partitions: Mapping[TopicPartition, _T]) -> Iterable[tuple[str, list[tuple[int, _T]]]]:
    """What is said of partitions, in the order and grouping that requests want."""
    in_order = sorted(partitions)
    for topic, each in groupby(in_order, key=lambda partition: partition.topic):
        yield topic, [(one.partition, partitions[one]) for one in each]
