"""Consumer groups as records, and back. Only this changes them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from snakka.coordinators.decision import NewRecord
from snakka.coordinators.groups.classic.members import SupportedProtocol
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import (
    NO_PARTITIONS,
    ClassicSupport,
    Expression,
    Member,
    MemberState,
    Partition,
    Partitions,
)
from snakka.protocol.internal import consumer_groups as records
from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.types import Uuid

ConsumerKey: TypeAlias = (
    records.ConsumerGroupMetadataKey
    | records.ConsumerGroupMemberMetadataKey
    | records.ConsumerGroupTargetAssignmentMetadataKey
    | records.ConsumerGroupTargetAssignmentMemberKey
    | records.ConsumerGroupCurrentMemberAssignmentKey
    | records.ConsumerGroupRegularExpressionKey
)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> NewRecord:
    return NewRecord(
        records.ConsumerGroupMetadataKey(group_id=group_id),
        records.ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def member_record(group_id: str, member: Member) -> NewRecord:
    return NewRecord(
        records.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id),
        records.ConsumerGroupMemberMetadataValue(
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
            subscribed_topic_regex=member.expression,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            server_assignor=member.assignor,
            classic_member_metadata=_write_classic(member.classic),
        ),
    )


def target_epoch_record(group_id: str, epoch: int, now_ms: int) -> NewRecord:
    return NewRecord(
        records.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id),
        records.ConsumerGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=now_ms
        ),
    )


def target_record(group_id: str, member_id: str, target: Partitions) -> NewRecord:
    topic_partitions = [
        records.TopicPartition(topic_id=topic_id, partitions=indexes)
        for topic_id, indexes in by_topic(target).items()
    ]
    return NewRecord(
        records.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        records.ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topic_partitions),
    )


def current_record(group_id: str, member: Member) -> NewRecord:
    return NewRecord(
        records.ConsumerGroupCurrentMemberAssignmentKey(
            group_id=group_id, member_id=member.member_id
        ),
        records.ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=member.state,
            assigned_partitions=_write(member.assigned),
            partitions_pending_revocation=_write(member.revoking),
        ),
    )


def expression_record(group_id: str, text: str, found: Expression | None) -> NewRecord:
    """What an expression matches; None where nobody uses it any more."""
    return NewRecord(
        records.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=text),
        None
        if found is None
        else records.ConsumerGroupRegularExpressionValue(
            topics=sorted(found.topics), version=found.version, timestamp=found.matched_at_ms
        ),
    )


def member_tombstones(group_id: str, member_id: str) -> Iterator[NewRecord]:
    for key in (
        records.ConsumerGroupCurrentMemberAssignmentKey,
        records.ConsumerGroupTargetAssignmentMemberKey,
        records.ConsumerGroupMemberMetadataKey,
    ):
        yield NewRecord(key(group_id=group_id, member_id=member_id))


def group_tombstones(group_id: str) -> Iterator[NewRecord]:
    yield NewRecord(records.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id))
    yield NewRecord(records.ConsumerGroupMetadataKey(group_id=group_id))


def by_topic(partitions: Iterable[Partition]) -> dict[Uuid, list[int]]:
    found: dict[Uuid, list[int]] = {}
    for topic_id, index in sorted(partitions):
        found.setdefault(topic_id, []).append(index)
    return found


def replay(group: ConsumerGroup, key: CoordinatorKey, value: CoordinatorValue | None) -> None:
    """Makes `group` what a record says; the caller handles the end of a whole group."""
    match key, value:
        case _, records.ConsumerGroupMetadataValue():
            group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
        case _, records.ConsumerGroupTargetAssignmentMetadataValue():
            group.assignment_epoch = value.assignment_epoch
        case records.ConsumerGroupMemberMetadataKey(), None:
            group.remove(key.member_id)
        case (
            records.ConsumerGroupMemberMetadataKey(),
            records.ConsumerGroupMemberMetadataValue(),
        ):
            group.put(_read_member(group, key.member_id, value))
        case records.ConsumerGroupTargetAssignmentMemberKey(), None:
            group.targets.pop(key.member_id, None)
        case (
            records.ConsumerGroupTargetAssignmentMemberKey(),
            records.ConsumerGroupTargetAssignmentMemberValue(),
        ):
            group.targets[key.member_id] = _read(value.topic_partitions)
        case records.ConsumerGroupCurrentMemberAssignmentKey(), _:
            _replay_current(group, key.member_id, value)
        case records.ConsumerGroupRegularExpressionKey(), None:
            group.expressions.pop(key.regular_expression, None)
        case (
            records.ConsumerGroupRegularExpressionKey(),
            records.ConsumerGroupRegularExpressionValue(),
        ):
            group.expressions[key.regular_expression] = Expression(
                frozenset(value.topics), value.version, value.timestamp
            )


def _replay_current(group: ConsumerGroup, member_id: str, value: CoordinatorValue | None) -> None:
    member = group.members.get(member_id, Member(member_id))
    if isinstance(value, records.ConsumerGroupCurrentMemberAssignmentValue):
        member = replace(
            member,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=MemberState(value.state),
            assigned=_read(value.assigned_partitions),
            revoking=_read(value.partitions_pending_revocation),
        )
        group.put(member)
    elif member_id in group.members:
        group.put(replace(member, assigned=NO_PARTITIONS, revoking=NO_PARTITIONS))


def _read_member(
    group: ConsumerGroup, member_id: str, value: records.ConsumerGroupMemberMetadataValue
) -> Member:
    return replace(
        group.members.get(member_id, Member(member_id)),
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=frozenset(value.subscribed_topic_names),
        expression=value.subscribed_topic_regex or None,
        assignor=value.server_assignor,
        classic=_read_classic(value.classic_member_metadata),
        rebalance_timeout_ms=value.rebalance_timeout_ms,
    )


def _write_classic(support: ClassicSupport | None) -> records.ClassicMemberMetadata | None:
    if support is None:
        return None
    return records.ClassicMemberMetadata(
        session_timeout_ms=support.session_timeout_ms,
        supported_protocols=[
            records.ClassicProtocol(name=each.name, metadata=each.metadata)
            for each in support.protocols
        ],
    )


def _read_classic(value: records.ClassicMemberMetadata | None) -> ClassicSupport | None:
    if value is None:
        return None
    protocols = (
        SupportedProtocol(each.name, bytes(each.metadata)) for each in value.supported_protocols
    )
    return ClassicSupport(value.session_timeout_ms, tuple(protocols))


def _write(partitions: Partitions) -> list[records.TopicPartitions]:
    return [
        records.TopicPartitions(topic_id=topic_id, partitions=indexes, assignment_epochs=None)
        for topic_id, indexes in by_topic(partitions).items()
    ]


def _read(
    topics: Iterable[records.TopicPartitions] | Iterable[records.TopicPartition],
) -> Partitions:
    return frozenset(
        Partition(topic.topic_id, index) for topic in topics for index in topic.partitions
    )
