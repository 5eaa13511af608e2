"""A generation as a GroupMetadata record, and back.

Loading and serving share this: the record of a generation that was just assigned finds its members
in place and sets their assignments, one read from the log makes the members first.
"""

from collections.abc import Mapping
from typing import Final

from snakka.coordinators.decision import NewRecord
from snakka.coordinators.groups.classic.group import ClassicGroup, State
from snakka.coordinators.groups.classic.members import Member, SupportedProtocol
from snakka.protocol.internal.classic_groups import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)

_VALUE_VERSION: Final = 3
_NO_TIMESTAMP: Final = -1


def generation_record(
    group: ClassicGroup, assignments: Mapping[str, bytes], changed_at_ms: int | None
) -> NewRecord:
    """The group's generation with the work of each member; none where the leader gave none."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=_NO_TIMESTAMP if changed_at_ms is None else changed_at_ms,
        members=[
            MemberMetadata(
                member_id=each.member_id,
                group_instance_id=each.instance_id,
                client_id=each.client_id,
                client_host=each.client_host,
                rebalance_timeout=each.rebalance_timeout_ms,
                session_timeout=each.session_timeout_ms,
                subscription=each.metadata(group.protocol),
                assignment=assignments.get(each.member_id, b""),
            )
            for each in group.members
        ],
    )
    return NewRecord(GroupMetadataKey(group=group.group_id), value, _VALUE_VERSION)


def tombstone(group_id: str) -> NewRecord:
    """What ends a group."""
    return NewRecord(GroupMetadataKey(group=group_id))


def replay_generation(group: ClassicGroup, value: GroupMetadataValue) -> None:
    """Makes `group` what a record says."""
    group.is_stored = True
    group.generation = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol = value.protocol
    group.leader = value.leader
    changed_at_ms = value.current_state_timestamp
    group.state_changed_at_ms = None if changed_at_ms == _NO_TIMESTAMP else changed_at_ms
    stored = {each.member_id for each in value.members}
    for member in group.members:
        if member.member_id not in stored:
            group.remove(member.member_id)
    for each in value.members:
        _replay_member(group, each)
    group.state = State.STABLE if stored else State.EMPTY
    group.note_subscriptions()


def _replay_member(group: ClassicGroup, stored: MemberMetadata) -> None:
    member = group.members.find(stored.member_id)
    if member is None or member.metadata(group.protocol) != stored.subscription:
        group.members.remove(stored.member_id)
        member = _read_member(stored, group.protocol)
        group.members.add(member)
    member.assignment = stored.assignment


def _read_member(stored: MemberMetadata, protocol: str | None) -> Member:
    rebalance_timeout_ms = stored.rebalance_timeout
    if rebalance_timeout_ms == -1:  # records of version 0 do not have it
        rebalance_timeout_ms = stored.session_timeout
    return Member(
        member_id=stored.member_id,
        instance_id=stored.group_instance_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        rebalance_timeout_ms=rebalance_timeout_ms,
        session_timeout_ms=stored.session_timeout,
        protocols=(SupportedProtocol(protocol or "", stored.subscription),),
    )
