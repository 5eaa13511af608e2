"""DescribeGroups and ListGroups."""

from collections.abc import Iterable
from typing import Final

from snakka.coordinators.groups.classic.group import CONSUMER_PROTOCOL_TYPE, ClassicGroup, State
from snakka.coordinators.groups.table import ConsumerGroupTable, GroupTable
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember
from snakka.protocol.messages.list_groups import ListedGroup

_CLASSIC: Final = "classic"
_CONSUMER: Final = "consumer"
_GROUP_ID_NOT_FOUND_VERSION: Final = 6


def describe(groups: GroupTable, group_id: str, api_version: int) -> DescribedGroup:
    """A group with its members; one that is not there is Dead, and since KIP-1043 an error too."""
    group = groups.get(group_id)
    if group is None:
        is_error = api_version >= _GROUP_ID_NOT_FOUND_VERSION
        return DescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND if is_error else ErrorCode.NONE,
            error_message=f"Group {group_id} not found." if is_error else None,
            group_id=group_id,
            group_state=State.DEAD,
            protocol_type="",
            protocol_data="",
            members=[],
        )
    return DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group_id,
        group_state=group.state,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol or "") if group.state is State.STABLE else "",
        members=_describe_members(group),
    )


def _describe_members(group: ClassicGroup) -> list[DescribedGroupMember]:
    """What members say of themselves means something only together with a chosen protocol."""
    protocol = group.protocol if group.state is State.STABLE else None
    return [
        DescribedGroupMember(
            member_id=each.member_id,
            group_instance_id=each.instance_id,
            client_id=each.client_id,
            client_host=each.client_host,
            member_metadata=each.metadata(protocol),
            member_assignment=each.assignment,
        )
        for each in group.members
    ]


def list_groups(
    groups: GroupTable,
    consumer_groups: ConsumerGroupTable,
    states: Iterable[str],
    types: Iterable[str],
) -> list[ListedGroup]:
    """Groups in any of the states and of any of the types; without a filter, all."""
    wanted_states = {each.strip().lower() for each in states}
    wanted_types = {each.strip().lower() for each in types}
    found = [
        ListedGroup(
            group_id=each.group_id,
            protocol_type=each.protocol_type or "",
            group_state=each.state,
            group_type=_CLASSIC,
        )
        for each in groups.values()
    ]
    found += [
        ListedGroup(
            group_id=each.group_id,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            group_state=each.state,
            group_type=_CONSUMER,
        )
        for each in consumer_groups.values()
    ]
    return [
        each
        for each in found
        if (not wanted_states or each.group_state.lower() in wanted_states)
        and (not wanted_types or each.group_type in wanted_types)
    ]
