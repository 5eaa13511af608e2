"""ConsumerGroupHeartbeat: members join, say what they own, learn what to own, and leave.

The first one to join a live group of the classic protocol takes it along (migrating.py).

Not here: what comes of it (advancing.py), classic members of a group (classic_members.py).
"""

from dataclasses import replace
from random import Random
from uuid import UUID

from snakka.coordinators.decision import Answer, Decision, NewRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.group import ClassicGroup
from snakka.coordinators.groups.classic.outcome import Outcome, refuse_join, refuse_sync
from snakka.coordinators.groups.classic.stored import tombstone as classic_tombstone
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.consumer import stored
from snakka.coordinators.groups.consumer.advancing import Advancing, Step, take_over
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import (
    LEAVE_EPOCH,
    LEAVE_FOR_A_WHILE_EPOCH,
    Member,
    Partitions,
)
from snakka.coordinators.groups.consumer.migrating import upgrade, upgrade_records
from snakka.coordinators.groups.consumer.requests import (
    check_epoch,
    check_request,
    owned_partitions,
    with_wishes,
)
from snakka.coordinators.groups.consumer.topics import Topics
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
        topics: Topics,
        settings: GroupSettings,
    ) -> None:
        self._topics = topics
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
            return self._leave(request, now_ms)
        records: list[NewRecord] = []
        group, answers = self._get_or_new(request, records, now_ms)
        member_id = request.member_id or str(UUID(bytes=bytes(random_uuid(random))))
        before = _find_or_new(group, request, member_id)
        step = Step.of(group, records)
        if before.member_id != member_id:
            before = take_over(step, before, member_id)
        after = with_wishes(before, request, client)
        member = self._advancing.advance(step, before, after, owned_partitions(request), now_ms)
        self._advancing.renew(group, after, member, now_ms)
        return Decision(self._respond(request, before, member), tuple(records), answers)

    def _get_or_new(
        self, request: ConsumerGroupHeartbeatRequest, records: list[NewRecord], now_ms: int
    ) -> tuple[ConsumerGroup, tuple[Answer, ...]]:
        """Replaying its records makes a new group known."""
        group = self._groups.get(request.group_id)
        if group is not None:
            is_full = len(group.members) >= self._settings.consumer_max_size
            if is_full and request.member_id not in group.members:
                raise CoordinatorError(ErrorCode.GROUP_MAX_SIZE_REACHED)
            return group, ()
        if request.member_epoch:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
        classic = self._classic_groups.get(request.group_id)
        if classic is None:
            return ConsumerGroup(request.group_id), ()
        if classic.is_unused:
            records.append(classic_tombstone(request.group_id))
            return ConsumerGroup(request.group_id), ()
        return self._upgrade(classic, records, now_ms)

    def _upgrade(
        self, classic: ClassicGroup, records: list[NewRecord], now_ms: int
    ) -> tuple[ConsumerGroup, tuple[Answer, ...]]:
        """Classic members come along; who waits for a rebalance is to join again."""
        group = upgrade(classic, self._topics, self._settings)
        records += upgrade_records(group, now_ms)
        outcome = Outcome()
        for each in classic.members:
            again = ErrorCode.REBALANCE_IN_PROGRESS
            outcome.answer(classic.members.take_join(each), refuse_join(again, each.member_id))
            outcome.answer(each.sync_token, refuse_sync(again))
            self._advancing.renew(group, None, group.members[each.member_id], now_ms)
        return group, tuple(outcome.answers)

    def _leave(
        self, request: ConsumerGroupHeartbeatRequest, now_ms: int
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
            records = self._advancing.fence(group, [member.member_id], now_ms)
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
        is_there = member is not None and member.epoch != LEAVE_FOR_A_WHILE_EPOCH
        if member is not None and is_other and is_there and member.classic is None:
            raise CoordinatorError(ErrorCode.UNRELEASED_INSTANCE_ID)
        return member or Member(member_id)
    if member is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    if member.member_id != member_id:
        raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
    check_epoch(member, request)
    return member


def _write(assigned: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=indexes)
            for topic_id, indexes in stored.by_topic(assigned).items()
        ]
    )
