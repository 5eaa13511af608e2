"""Members of the classic protocol in a consumer group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

Nobody leads here: the coordinator assigns. A classic member takes a step when it joins again, and a
heartbeat tells it to where there is a step to take. It says what it owns with every JoinGroup: an
eager one nothing, which gives up all it has to give up at once.
"""

from dataclasses import replace
from random import Random
from typing import Final
from uuid import UUID

from snakka.coordinators.deadlines import Deadlines
from snakka.coordinators.decision import Decision, NewRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.group import CONSUMER_PROTOCOL_TYPE
from snakka.coordinators.groups.classic.members import SupportedProtocol
from snakka.coordinators.groups.classic.outcome import refuse_join
from snakka.coordinators.groups.classic.sessions import Due
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.consumer.advancing import Advancing, Step, take_over
from snakka.coordinators.groups.consumer.embedded import (
    find_partitions,
    read_subscription,
    write_assignment,
)
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import ClassicSupport, Member, MemberState
from snakka.coordinators.groups.consumer.sessions import RevocationEnd
from snakka.coordinators.groups.consumer.topics import Topics
from snakka.coordinators.groups.settings import GroupSettings, MigrationPolicy
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError
from snakka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from snakka.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from snakka.protocol.types import random_uuid

_REQUIRED_MEMBER_ID_VERSION: Final = 4


class ClassicMembers:
    """Decides about the classic protocol's requests to a consumer group."""

    def __init__(
        self,
        advancing: Advancing,
        deadlines: Deadlines[Due],
        topics: Topics,
        settings: GroupSettings,
    ) -> None:
        self._advancing = advancing
        self._deadlines = deadlines
        self._topics = topics
        self._settings = settings

    def join(
        self,
        group: ConsumerGroup,
        request: JoinGroupRequest,
        client: ClientInfo,
        now_ms: int,
        random: Random,
    ) -> Decision[JoinGroupResponse]:
        self._check_join(group, request)
        member_id = request.member_id or str(UUID(bytes=bytes(random_uuid(random))))
        is_unknown = not request.member_id and request.group_instance_id is None
        if is_unknown and client.api_version >= _REQUIRED_MEMBER_ID_VERSION:
            return Decision(refuse_join(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        records: list[NewRecord] = []
        step = Step.of(group, records)
        before = _find_or_new(group, request, member_id)
        if before.member_id != member_id:
            before = take_over(step, before, member_id)
        try:
            subscription = read_subscription(bytes(request.protocols[0].metadata))
        except MalformedError:
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None
        after = replace(
            _with_wishes(before, request, client),
            rack_id=subscription.rack_id or before.rack_id,
            topics=frozenset(subscription.topics),
        )
        owned = find_partitions(subscription.owned_partitions, self._topics)
        member = self._advancing.advance(step, before, after, owned, now_ms)
        self._advancing.renew(group, None, member, now_ms)
        self._expect(group, member, now_ms)  # its SyncGroup
        self._advancing.check_downgrade(group.group_id, step.members.values(), now_ms)
        return Decision(_joined(member), tuple(records))

    def sync(
        self, group: ConsumerGroup, request: SyncGroupRequest, now_ms: int
    ) -> Decision[SyncGroupResponse]:
        member, support = _get(group, request.member_id, request.group_instance_id)
        if request.generation_id != member.epoch:
            raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
        name = support.protocols[0].name
        is_other_type = request.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE)
        if is_other_type or request.protocol_name not in (None, name):
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
        self._deadlines.clear(RevocationEnd(group.group_id, member.member_id))
        self._advancing.renew_session(group, member, now_ms)
        metadata = support.protocols[0].metadata
        response = SyncGroupResponse(
            error_code=ErrorCode.NONE,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocol_name=name,
            assignment=write_assignment(member.assigned, self._topics, metadata),
        )
        return Decision(response)

    def heartbeat(
        self, group: ConsumerGroup, request: HeartbeatRequest, now_ms: int
    ) -> Decision[HeartbeatResponse]:
        member, _ = _get(group, request.member_id, request.group_instance_id)
        if request.generation_id != member.epoch:
            raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
        self._advancing.renew_session(group, member, now_ms)
        code = ErrorCode.NONE
        if _is_to_join_again(group, member):
            code = ErrorCode.REBALANCE_IN_PROGRESS
            self._expect(group, member, now_ms)
        return Decision(HeartbeatResponse(error_code=code))

    def leave(
        self, group: ConsumerGroup, request: LeaveGroupRequest, now_ms: int
    ) -> Decision[LeaveGroupResponse]:
        leaving: dict[str, None] = {}
        responses = []
        for each in request.members:
            code = ErrorCode.NONE
            try:
                leaving[_find_leaving(group, each)] = None
            except CoordinatorError as error:
                code = error.code
            responses.append(
                MemberResponse(
                    member_id=each.member_id,
                    group_instance_id=each.group_instance_id,
                    error_code=code,
                )
            )
        records = self._advancing.fence(group, leaving, now_ms) if leaving else []
        response = LeaveGroupResponse(error_code=ErrorCode.NONE, members=responses)
        return Decision(response, tuple(records))

    def _check_join(self, group: ConsumerGroup, request: JoinGroupRequest) -> None:
        is_member = request.member_id in group.members
        if not is_member and len(group.members) >= self._settings.consumer_max_size:
            raise CoordinatorError(ErrorCode.GROUP_MAX_SIZE_REACHED)
        names = {each.name for each in request.protocols}
        is_shared = names and all(
            names & {protocol.name for protocol in each.classic.protocols}
            for each in group.members.values()
            if each.classic is not None
        )
        is_disabled = self._settings.migration_policy is MigrationPolicy.DISABLED
        if is_disabled or request.protocol_type != CONSUMER_PROTOCOL_TYPE or not is_shared:
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _expect(self, group: ConsumerGroup, member: Member, now_ms: int) -> None:
        """It is out where it does not send the next request of its rebalance in time."""
        end = RevocationEnd(group.group_id, member.member_id)
        if end not in self._deadlines:
            self._deadlines.set(end, now_ms + member.rebalance_timeout_ms)


def _find_or_new(group: ConsumerGroup, request: JoinGroupRequest, member_id: str) -> Member:
    """A static member without its id has restarted, and takes the place of its instance."""
    if request.group_instance_id is None:
        return group.members.get(member_id) or Member(member_id)
    member = group.find_static(request.group_instance_id)
    if member is not None:
        if request.member_id not in ("", member.member_id):
            raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
        return member
    if request.member_id:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return Member(member_id)


def _with_wishes(member: Member, request: JoinGroupRequest, client: ClientInfo) -> Member:
    timeout_ms = request.rebalance_timeout_ms
    if timeout_ms == -1:  # version 0 has one timeout for both
        timeout_ms = request.session_timeout_ms
    protocols = tuple(
        SupportedProtocol(each.name, bytes(each.metadata)) for each in request.protocols
    )
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        client_id=client.client_id,
        client_host=f"/{client.host}",
        expression=None,
        rebalance_timeout_ms=timeout_ms,
        classic=ClassicSupport(request.session_timeout_ms, protocols),
    )


def _joined(member: Member) -> JoinGroupResponse:
    assert member.classic is not None
    return JoinGroupResponse(
        error_code=ErrorCode.NONE,
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=member.classic.protocols[0].name,
        leader="",
        member_id=member.member_id,
        members=[],
    )


def _get(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[Member, ClassicSupport]:
    member = group.members.get(member_id)
    if instance_id is not None:
        static = group.find_static(instance_id)
        if static is not None and static.member_id != member_id:
            raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
        member = static
    if member is None or member.classic is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member, member.classic


def _is_to_join_again(group: ConsumerGroup, member: Member) -> bool:
    """There is a new epoch, something to give up, or something to be had now."""
    if member.epoch < group.epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    missing = group.target(member.member_id) - member.assigned
    is_waiting = any(group.is_held(each) for each in missing)
    return member.state is MemberState.UNRELEASED_PARTITIONS and not is_waiting


def _find_leaving(group: ConsumerGroup, identity: MemberIdentity) -> str:
    if identity.member_id:
        return _get(group, identity.member_id, identity.group_instance_id)[0].member_id
    member = group.find_static(identity.group_instance_id or "")
    if member is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member.member_id
