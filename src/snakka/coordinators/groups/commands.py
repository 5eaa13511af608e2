"""Commands that are sent for each of many groups."""

from snakka.coordinators.decision import Decision
from snakka.coordinators.groups import describing
from snakka.coordinators.groups.machine import GroupMachine
from snakka.coordinators.hosted import Command
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.consumer_group_describe import (
    DescribedGroup as DescribedConsumerGroup,
)
from snakka.protocol.messages.describe_groups import DescribedGroup
from snakka.protocol.messages.list_groups import ListedGroup, ListGroupsRequest
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
)


def fetch(
    group: OffsetFetchRequestGroup, request: OffsetFetchRequest
) -> Command[GroupMachine, OffsetFetchResponseGroup]:
    stable = request.require_stable
    return lambda machine, now_ms: machine.fetch(group, require_stable=stable)


def delete(group_id: str) -> Command[GroupMachine, ErrorCode]:
    return lambda machine, now_ms: machine.removals.delete_group(group_id)


def describe(group_id: str, api_version: int) -> Command[GroupMachine, DescribedGroup]:
    return lambda machine, now_ms: Decision(
        describing.describe(machine.groups, group_id, api_version)
    )


def describe_consumer(group_id: str) -> Command[GroupMachine, DescribedConsumerGroup]:
    return lambda machine, now_ms: machine.describe_consumer_group(group_id)


def list_all(request: ListGroupsRequest) -> Command[GroupMachine, list[ListedGroup]]:
    states, types = request.states_filter, request.types_filter
    return lambda machine, now_ms: Decision(
        describing.list_groups(machine.groups, machine.consumer_groups, states, types)
    )
