"""ConsumerGroupDescribe: what members of a consumer group have, and are to have."""

from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.consumer.assigning import preferred_assignor
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import Member, Partitions
from snakka.coordinators.groups.consumer.stored import by_topic
from snakka.coordinators.groups.consumer.topics import Topics
from snakka.coordinators.groups.table import ConsumerGroupTable
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages import consumer_group_describe as messages

_CLASSIC_MEMBER: Final = 0  # KIP-1099
_CONSUMER_MEMBER: Final = 1


def describe(
    groups: ConsumerGroupTable, topics: Topics, group_id: str, default_assignor: str
) -> messages.DescribedGroup:
    group = groups.get(group_id)
    if group is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
    return messages.DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(
            (each.assignor for each in group.members.values()), default_assignor
        ),
        members=[_describe_member(group, topics, each) for each in group.members.values()],
    )


def _describe_member(group: ConsumerGroup, topics: Topics, member: Member) -> messages.Member:
    return messages.Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.expression or "",
        assignment=_write(topics, member.assigned),
        target_assignment=_write(topics, group.target(member.member_id)),
        member_type=_CONSUMER_MEMBER if member.classic is None else _CLASSIC_MEMBER,
    )


def _write(topics: Topics, partitions: Partitions) -> messages.Assignment:
    """Topics that are no more have no name to be told by."""
    named = [(topics.find_by_id(each), found) for each, found in by_topic(partitions).items()]
    return messages.Assignment(
        topic_partitions=[
            messages.TopicPartitions(
                topic_id=topic.topic_id, topic_name=topic.name, partitions=indexes
            )
            for topic, indexes in named
            if topic is not None
        ]
    )
