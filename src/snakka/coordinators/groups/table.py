"""The groups of a partition, by id: one that is in one table is not in the other."""

from typing import TypeAlias

from snakka.coordinators.groups.classic.group import ClassicGroup
from snakka.coordinators.groups.consumer.group import ConsumerGroup

GroupTable: TypeAlias = dict[str, ClassicGroup]
ConsumerGroupTable: TypeAlias = dict[str, ConsumerGroup]


def get_or_create(groups: GroupTable, group_id: str) -> ClassicGroup:
    group = groups.get(group_id)
    if group is None:
        group = groups[group_id] = ClassicGroup(group_id)
    return group
