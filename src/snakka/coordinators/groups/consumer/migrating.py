"""A live group moves from the classic protocol to the consumer protocol, and back (KIP-848).

The first member of the consumer protocol takes the group along: classic members go on in it, as
they were. When only classic members are left it becomes theirs again, and they rebalance.

Not here: what classic members may do meanwhile (classic_members.py).
"""

from collections.abc import Iterator

from snakka.coordinators.decision import NewRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic import stored as classic_stored
from snakka.coordinators.groups.classic.group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from snakka.coordinators.groups.classic.members import Member as ClassicMember
from snakka.coordinators.groups.consumer import stored
from snakka.coordinators.groups.consumer.embedded import (
    find_partitions,
    read_assignment,
    read_subscription,
    write_assignment,
)
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import ClassicSupport, Member
from snakka.coordinators.groups.consumer.topics import Topics
from snakka.coordinators.groups.settings import GroupSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError


def upgrade(classic: ClassicGroup, topics: Topics, settings: GroupSettings) -> ConsumerGroup:
    """The same group with the same members, each of which has what it was assigned."""
    is_allowed = settings.migration_policy.can_upgrade and classic.is_consumer
    if not is_allowed or len(classic.members) > settings.consumer_max_size:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
    group = ConsumerGroup(classic.group_id)
    group.epoch = group.assignment_epoch = classic.generation
    for each in classic.members:
        try:
            member = _upgrade_member(classic, each, topics)
        except MalformedError:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND) from None
        group.put(member)
        group.targets[member.member_id] = member.assigned
    return group


def upgrade_records(group: ConsumerGroup, now_ms: int) -> Iterator[NewRecord]:
    group_id = group.group_id
    yield classic_stored.tombstone(group_id)
    for member in group.members.values():
        yield stored.member_record(group_id, member)
    yield stored.epoch_record(group_id, group.epoch, group.metadata_hash)
    yield stored.target_epoch_record(group_id, group.assignment_epoch, now_ms)
    for member in group.members.values():
        yield stored.target_record(group_id, member.member_id, member.assigned)
        yield stored.current_record(group_id, member)


def may_downgrade(group: ConsumerGroup, settings: GroupSettings) -> bool:
    return (
        settings.migration_policy.can_downgrade
        and group.is_all_classic
        and 0 < len(group.members) <= settings.max_size
    )


def downgrade_records(group: ConsumerGroup, topics: Topics, now_ms: int) -> Iterator[NewRecord]:
    """The group as a generation of the classic protocol: members have what they are to have."""
    group_id = group.group_id
    for member_id in group.members:
        yield from stored.member_tombstones(group_id, member_id)
    for text in group.expressions:
        yield stored.expression_record(group_id, text, None)
    yield from stored.group_tombstones(group_id)
    classic = ClassicGroup(group_id)
    # The epoch that members are in, not the one they have yet to hear of: one that finds itself in
    # another generation takes its partitions for lost, and does not commit them.
    classic.generation = max(each.epoch for each in group.members.values())
    classic.protocol_type = CONSUMER_PROTOCOL_TYPE
    assignments = {}
    for member in group.members.values():
        assert member.classic is not None
        classic.members.add(_downgrade_member(member, member.classic))
        metadata = member.classic.protocols[0].metadata
        target = group.target(member.member_id)
        assignments[member.member_id] = write_assignment(target, topics, metadata)
    classic.protocol = classic.members.select_protocol()
    classic.leader = next(iter(group.members))
    yield classic_stored.generation_record(classic, assignments, now_ms)


def _upgrade_member(classic: ClassicGroup, member: ClassicMember, topics: Topics) -> Member:
    metadata = member.metadata(classic.protocol) or member.protocols[0].metadata
    subscription = read_subscription(metadata)
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        epoch=classic.generation,
        previous_epoch=classic.generation,
        assigned=find_partitions(read_assignment(member.assignment), topics),
        classic=ClassicSupport(member.session_timeout_ms, member.protocols),
    )


def _downgrade_member(member: Member, support: ClassicSupport) -> ClassicMember:
    return ClassicMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=support.session_timeout_ms,
        protocols=support.protocols,
    )
