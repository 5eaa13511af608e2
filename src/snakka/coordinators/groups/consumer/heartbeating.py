"""ConsumerGroupHeartbeat: members join, say what they own, learn what to own, and leave.

Not here: what comes of it (advancing.py), members of the classic protocol in a consumer group.
"""

from dataclasses import replace
from random import Random
from uuid import UUID

from snakka.coordinators.decision import Decision, NewRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.stored import tombstone as classic_tombstone
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.consumer import stored
from snakka.coordinators.groups.consumer.advancing import Advancing, Step
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import (
    LEAVE_EPOCH,
    LEAVE_FOR_A_WHILE_EPOCH,
    NO_PARTITIONS,
    Member,
    Partitions,
)
from snakka.coordinators.groups.consumer.requests import (
    check_epoch,
    check_request,
    owned_partitions,
    with_wishes,
)
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.groups.table import ConsumerGroupTable, GroupTable
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from snakka.protocol.types import random_uuid


class Heartbeats:
    """Decides about ConsumerGroupHeartbeat."""

    def __init__(
        self,
        groups: ConsumerGroupTable,
        classic_groups: GroupTable,
        advancing: Advancing,
        settings: GroupSettings,
    ) -> None:
        self._groups = groups
        self._classic_groups = classic_groups
        self._advancing = advancing
        self._settings = settings

    def heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        client: ClientInfo,
        now_ms: int,
        random: Random,
    ) -> Decision[ConsumerGroupHeartbeatResponse]:
        check_request(request, self._settings.consumer_assignors, client.api_version)
        if request.member_epoch < 0:
            return self._leave(request)
        records: list[NewRecord] = []
        group = self._get_or_new(request, records)
        member_id = request.member_id or str(UUID(bytes=bytes(random_uuid(random))))
        before = _find_or_new(group, request, member_id)
        step = Step.of(group, records)
        if before.member_id != member_id:
            before = _take_over(step, before, member_id)
        after = with_wishes(before, request, client)
        member = self._advancing.advance(step, before, after, owned_partitions(request), now_ms)
        self._advancing.renew(group, after, member, now_ms)
        return Decision(self._respond(request, before, member), tuple(records))

    def _get_or_new(
        self, request: ConsumerGroupHeartbeatRequest, records: list[NewRecord]
    ) -> ConsumerGroup:
        group = self._groups.get(request.group_id)
        if group is None:
            classic = self._classic_groups.get(request.group_id)
            is_used = classic is not None and not classic.is_unused
            if request.member_epoch or is_used:
                raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
            if classic is not None:
                records.append(classic_tombstone(request.group_id))
            return ConsumerGroup(request.group_id)  # replaying its records makes it known
        is_full = len(group.members) >= self._settings.consumer_max_size
        if is_full and request.member_id not in group.members:
            raise CoordinatorError(ErrorCode.GROUP_MAX_SIZE_REACHED)
        return group

    def _leave(
        self, request: ConsumerGroupHeartbeatRequest
    ) -> Decision[ConsumerGroupHeartbeatResponse]:
        group = self._groups.get(request.group_id)
        if group is None:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
        member = group.members.get(request.member_id)
        if request.instance_id is not None:
            member = group.find_static(request.instance_id)
            if member is not None and member.member_id != request.member_id:
                raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
        if member is None:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        if request.member_epoch == LEAVE_EPOCH:
            records = self._advancing.fence(group, member.member_id)
        else:  # its place and its partitions wait for it until its session ends
            away = replace(member, epoch=LEAVE_FOR_A_WHILE_EPOCH, revoking=frozenset())
            records = [stored.current_record(group.group_id, away)]
        response = ConsumerGroupHeartbeatResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.NONE,
            member_id=member.member_id,
            member_epoch=request.member_epoch,
            heartbeat_interval_ms=0,
        )
        return Decision(response, tuple(records))

    def _respond(
        self, request: ConsumerGroupHeartbeatRequest, before: Member, member: Member
    ) -> ConsumerGroupHeartbeatResponse:
        is_full = (
            request.topic_partitions is not None
            and request.subscribed_topic_names is not None
            and request.rebalance_timeout_ms != -1
        )
        is_told = request.member_epoch == 0 or is_full or member.assigned != before.assigned
        return ConsumerGroupHeartbeatResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.NONE,
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self._settings.of_group(request.group_id).heartbeat_interval_ms,
            assignment=_write(member.assigned) if is_told else None,
        )


def _find_or_new(
    group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, member_id: str
) -> Member:
    """Who sends the heartbeat; a static member that is back may be found under its old id."""
    member = group.members.get(member_id)
    if request.instance_id is not None:
        member = group.find_static(request.instance_id)
    if request.member_epoch == 0:
        is_other = member is not None and member.member_id != member_id
        if member is not None and is_other and member.epoch != LEAVE_FOR_A_WHILE_EPOCH:
            raise CoordinatorError(ErrorCode.UNRELEASED_INSTANCE_ID)
        return member or Member(member_id)
    if member is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if member.member_id != member_id:
        raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
    check_epoch(member, request)
    return member


def _take_over(step: Step, old: Member, member_id: str) -> Member:
    """An instance is back under another id: its place and its partitions are its own."""
    group_id = step.group.group_id
    step.records += stored.member_tombstones(group_id, old.member_id)
    del step.members[old.member_id]
    step.targets[member_id] = step.targets.pop(old.member_id, NO_PARTITIONS)
    step.records.append(stored.target_record(group_id, member_id, step.targets[member_id]))
    return replace(old, member_id=member_id, epoch=0, previous_epoch=0)


def _write(assigned: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=indexes)
            for topic_id, indexes in stored.by_topic(assigned).items()
        ]
    )
