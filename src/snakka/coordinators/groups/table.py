"""The groups of a partition, by id."""

from typing import TypeAlias

from snakka.coordinators.groups.classic.group import ClassicGroup

GroupTable: TypeAlias = dict[str, ClassicGroup]


def get_or_create(groups: GroupTable, group_id: str) -> ClassicGroup:
    group = groups.get(group_id)
    if group is None:
        group = groups[group_id] = ClassicGroup(group_id)
    return group
