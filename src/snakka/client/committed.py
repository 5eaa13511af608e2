"""A group's committed positions: reading and writing them at its coordinator."""

from collections.abc import Iterable, Mapping
from typing import Final

from snakka.client.cluster import Cluster, CoordinatorType
from snakka.client.errors import check
from snakka.client.offsets import CommittedOffset, GroupMember, by_topic
from snakka.client.records import TopicPartition
from snakka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

# From the next version on topics go by id alone; a group may hold offsets of topics that are gone.
_LAST_BY_NAME: Final = 9


async def commit_offsets(
    cluster: Cluster, member: GroupMember, offsets: Mapping[TopicPartition, CommittedOffset]
) -> None:
    """Stores positions; the first refusal is raised."""
    request = OffsetCommitRequest(
        group_id=member.group_id,
        generation_id_or_member_epoch=member.epoch,
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=each.offset,
                        committed_leader_epoch=each.leader_epoch,
                        committed_metadata=each.metadata,
                    )
                    for index, each in partitions
                ],
            )
            for topic, partitions in by_topic(offsets)
        ],
    )

    async def attempt() -> None:
        answer = await cluster.ask_coordinator(
            member.group_id,
            CoordinatorType.GROUP,
            request,
            OffsetCommitResponse,
            version=_LAST_BY_NAME,
        )
        for topic in answer.topics:
            for partition in topic.partitions:
                check(partition.error_code)

    await cluster.retrying(attempt)


async def fetch_offsets(
    cluster: Cluster,
    member: GroupMember,
    partitions: Iterable[TopicPartition] | None = None,
    *,
    require_stable: bool = True,
) -> dict[TopicPartition, CommittedOffset]:
    """What is stored of these partitions, or of all; those without a position are left out."""
    wanted = None
    if partitions is not None:
        grouped = by_topic(dict.fromkeys(partitions, None))
        wanted = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=[index for index, _ in each])
            for topic, each in grouped
        ]
    group = OffsetFetchRequestGroup(
        group_id=member.group_id,
        member_id=member.member_id or None,
        member_epoch=member.epoch,
        topics=wanted,
    )
    request = OffsetFetchRequest(
        group_id="", topics=[], groups=[group], require_stable=require_stable
    )

    async def attempt() -> dict[TopicPartition, CommittedOffset]:
        answer = await cluster.ask_coordinator(
            member.group_id,
            CoordinatorType.GROUP,
            request,
            OffsetFetchResponse,
            version=_LAST_BY_NAME,
        )
        (told,) = answer.groups
        check(told.error_code)
        found = {}
        for topic in told.topics:
            for each in topic.partitions:
                check(each.error_code)
                if each.committed_offset >= 0:
                    found[TopicPartition(topic.name, each.partition_index)] = CommittedOffset(
                        each.committed_offset, each.committed_leader_epoch, each.metadata or ""
                    )
        return found

    return await cluster.retrying(attempt)
