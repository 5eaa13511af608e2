"""Groups: which there are, who is in them, how far they are."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from snakka.client.cluster import Cluster, CoordinatorType
from snakka.client.committed import fetch_offsets
from snakka.client.errors import KafkaError, check, kafka_error
from snakka.client.list_offsets import LATEST, FoundOffset, IsolationLevel, list_offsets
from snakka.client.offsets import CommittedOffset, GroupMember
from snakka.client.records import TopicPartition
from snakka.protocol.codec import decoder
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError
from snakka.protocol.internal.consumer_protocol import ConsumerProtocolAssignment
from snakka.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from snakka.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from snakka.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from snakka.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
DEAD: Final = "Dead"

_CONSUMER_PROTOCOL: Final = "consumer"  # the protocol type of classic groups of consumers
_VERSION_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class ListedGroup:
    id: str
    type: str
    state: str
    coordinator_id: int


@dataclass(frozen=True, slots=True)
class Member:
    id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    id: str
    type: str
    state: str
    coordinator_id: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a group is in a partition; None where that is not known."""

    partition: TopicPartition
    committed: CommittedOffset | None
    end_offset: int | None
    member: Member | None

    @property
    def lag(self) -> int | None:
        if self.committed is None or self.end_offset is None:
            return None
        return max(0, self.end_offset - self.committed.offset)


async def list_groups(cluster: Cluster) -> list[ListedGroup]:
    """The groups of all coordinators, by name."""
    await cluster.refresh(())
    request = ListGroupsRequest(states_filter=[], types_filter=[])

    async def ask(node_id: int) -> list[ListedGroup]:
        answer = await cluster.retrying(
            lambda: cluster.ask_node(node_id, request, ListGroupsResponse)
        )
        return [
            ListedGroup(each.group_id, each.group_type.lower(), each.group_state, node_id)
            for each in answer.groups
        ]

    told = await asyncio.gather(*(ask(node_id) for node_id in cluster.metadata.nodes))
    return sorted((each for groups in told for each in groups), key=lambda group: group.id)


async def describe_group(cluster: Cluster, group_id: str) -> DescribedGroup:
    """A group of consumers, of either protocol; GROUP_ID_NOT_FOUND where there is none."""
    try:
        return await _describe_consumer_group(cluster, group_id)
    except KafkaError as error:
        if error.code not in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION):
            raise
    return await _describe_classic_group(cluster, group_id)


async def progress(cluster: Cluster, group: DescribedGroup) -> list[Progress]:
    """How far a group is in what it has committed and what its members read."""
    committed = await fetch_offsets(cluster, GroupMember(group.id), require_stable=False)
    readers = {partition: each for each in group.members for partition in each.assignment}
    partitions = sorted({*committed, *readers})
    ends = await _ends(cluster, partitions)
    return [
        Progress(
            each,
            committed.get(each),
            ends[each].offset if each in ends else None,
            readers.get(each),
        )
        for each in partitions
    ]


async def delete_groups(cluster: Cluster, ids: Sequence[str]) -> dict[str, KafkaError | None]:
    outcomes: dict[str, KafkaError | None] = {}
    for group_id in ids:
        answer = await cluster.ask_coordinator(
            group_id,
            CoordinatorType.GROUP,
            DeleteGroupsRequest(groups_names=[group_id]),
            DeleteGroupsResponse,
        )
        (result,) = answer.results
        outcomes[group_id] = kafka_error(result.error_code) if result.error_code else None
    return outcomes


async def _ends(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, FoundOffset]:
    """The ends of those partitions that still are there."""
    topics = {each.topic for each in partitions}
    if topics:
        await cluster.refresh(topics)
    there = [each for each in partitions if cluster.metadata.find_partition(*each) is not None]
    return await list_offsets(
        cluster, dict.fromkeys(there, LATEST), IsolationLevel.READ_UNCOMMITTED
    )


async def _describe_consumer_group(cluster: Cluster, group_id: str) -> DescribedGroup:
    request = ConsumerGroupDescribeRequest(
        group_ids=[group_id], include_authorized_operations=False
    )
    answer = await cluster.ask_coordinator(
        group_id, CoordinatorType.GROUP, request, ConsumerGroupDescribeResponse
    )
    (group,) = answer.groups
    check(group.error_code, group.error_message)
    members = tuple(
        Member(
            each.member_id,
            each.instance_id,
            each.client_id,
            each.client_host,
            tuple(
                TopicPartition(topic.topic_name, index)
                for topic in each.assignment.topic_partitions
                for index in topic.partitions
            ),
        )
        for each in group.members
    )
    coordinator = await cluster.get_coordinator(group_id, CoordinatorType.GROUP)
    return DescribedGroup(group_id, CONSUMER, group.group_state, coordinator, members)


async def _describe_classic_group(cluster: Cluster, group_id: str) -> DescribedGroup:
    request = DescribeGroupsRequest(groups=[group_id], include_authorized_operations=False)
    answer = await cluster.ask_coordinator(
        group_id, CoordinatorType.GROUP, request, DescribeGroupsResponse
    )
    (group,) = answer.groups
    check(group.error_code, group.error_message)
    if group.group_state == DEAD:  # what coordinators before KIP-1043 say of those they do not know
        check(ErrorCode.GROUP_ID_NOT_FOUND)
    is_consumer = group.protocol_type == _CONSUMER_PROTOCOL
    members = tuple(
        Member(
            each.member_id,
            each.group_instance_id,
            each.client_id,
            each.client_host,
            tuple(_assignment(each.member_assignment)) if is_consumer else (),
        )
        for each in group.members
    )
    coordinator = await cluster.get_coordinator(group_id, CoordinatorType.GROUP)
    return DescribedGroup(group_id, CLASSIC, group.group_state, coordinator, members)


def _assignment(data: bytes) -> Iterable[TopicPartition]:
    """What a member was given by its leader, in a form that only members agree on."""
    if len(data) < _VERSION_BYTES:
        return
    version = min(int.from_bytes(data[:_VERSION_BYTES]), ConsumerProtocolAssignment.VERSIONS.last)
    try:
        told, _ = decoder(ConsumerProtocolAssignment, version)(data, _VERSION_BYTES)
    except MalformedError:
        return
    for topic in told.assigned_partitions:
        for index in topic.partitions:
            yield TopicPartition(topic.topic, index)
