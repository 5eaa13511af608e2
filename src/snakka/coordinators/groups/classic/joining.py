"""JoinGroup: entering a group, or its next generation.

A member without an id is given one. Since KIP-394 it has to come back with it, so that a client
that gives up in between leaves no member behind; static members (KIP-345) need none of that, and
take over the place of their instance. An id that was given out is known from then on: joining
with it succeeds in any state of the group.
"""

from collections.abc import Iterator
from random import Random
from typing import Final
from uuid import UUID

from snakka.coordinators.decision import Decision, Later
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.group import ClassicGroup, State
from snakka.coordinators.groups.classic.members import Member, SupportedProtocol
from snakka.coordinators.groups.classic.outcome import (
    Outcome,
    generation_of,
    joined,
    refuse_join,
    refuse_sync,
)
from snakka.coordinators.groups.classic.rebalancing import Rebalancing
from snakka.coordinators.groups.classic.sessions import Sessions
from snakka.coordinators.groups.classic.stored import generation_record
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.groups.table import GroupTable, get_or_create
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from snakka.protocol.types import random_uuid

_REQUIRED_MEMBER_ID_VERSION: Final = 4
_SKIP_ASSIGNMENT_VERSION: Final = 9


class Joining:
    """Decides about JoinGroup."""

    def __init__(
        self,
        groups: GroupTable,
        sessions: Sessions,
        rebalancing: Rebalancing,
        tokens: Iterator[int],
        settings: GroupSettings,
    ) -> None:
        self._groups = groups
        self._sessions = sessions
        self._rebalancing = rebalancing
        self._tokens = tokens
        self._settings = settings

    def join(
        self, request: JoinGroupRequest, client: ClientInfo, now_ms: int, random: Random
    ) -> Decision[JoinGroupResponse]:
        member_id = request.member_id
        group = self._groups.get(request.group_id)
        if group is None:
            if member_id:
                return Decision(refuse_join(ErrorCode.UNKNOWN_MEMBER_ID, member_id))
            if not _supports(ClassicGroup(request.group_id), request):
                return Decision(refuse_join(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
            group = get_or_create(self._groups, request.group_id)
        if not self._has_room(group, member_id):
            return self._turn_away(group, member_id, now_ms)
        if not _supports(group, request):
            return Decision(refuse_join(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id))
        if not member_id:
            return self._join_without_id(group, request, client, now_ms, random)
        if member_id in group.pending_joins and request.group_instance_id is None:
            return self._add(group, request, client, member_id, now_ms)
        try:
            group.check_member(member_id, request.group_instance_id)
        except CoordinatorError as error:
            return Decision(refuse_join(error.code, member_id))
        return self._join_again(group, group.members.get(member_id), request, now_ms)

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        members, size_max = group.members, self._settings.max_size
        if group.state is State.EMPTY:
            return True
        member = members.find(member_id)
        if group.state is State.PREPARING_REBALANCE:
            # Counting who has joined turns away the last ones where the limit has been lowered.
            has_joined = member is not None and member.join_token is not None
            return has_joined or members.joined_count < size_max
        return member is not None or len(members) < size_max

    def _turn_away(
        self, group: ClassicGroup, member_id: str, now_ms: int
    ) -> Decision[JoinGroupResponse]:
        outcome = Outcome()
        self._sessions.end(group, member_id)
        group.remove(member_id)
        self._rebalancing.complete_if_all_joined(group, outcome, now_ms)
        return outcome.decide(refuse_join(ErrorCode.GROUP_MAX_SIZE_REACHED))

    def _join_without_id(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        client: ClientInfo,
        now_ms: int,
        random: Random,
    ) -> Decision[JoinGroupResponse]:
        instance_id = request.group_instance_id
        member_id = f"{instance_id or client.client_id}-{UUID(bytes=bytes(random_uuid(random)))}"
        old_id = group.members.find_static_id(instance_id)
        if old_id is not None:
            return self._replace(group, request, client, old_id, member_id, now_ms)
        if instance_id is None and client.api_version >= _REQUIRED_MEMBER_ID_VERSION:
            group.pending_joins.add(member_id)
            self._sessions.allow(group, member_id, now_ms + request.session_timeout_ms)
            return Decision(refuse_join(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        return self._add(group, request, client, member_id, now_ms)

    def _add(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        client: ClientInfo,
        member_id: str,
        now_ms: int,
    ) -> Decision[JoinGroupResponse]:
        token = next(self._tokens)
        if not len(group.members):
            group.protocol_type = request.protocol_type
        group.has_new_member = True  # lets a group that begins wait for still more
        group.pending_joins.discard(member_id)
        group.leader = group.leader or member_id
        group.members.add(_new_member(request, client, member_id, token))
        until_ms = now_ms + self._settings.new_member_join_timeout_ms
        self._sessions.allow(group, member_id, until_ms)
        outcome = Outcome()
        self._rebalancing.prepare_or_complete(group, outcome, now_ms)
        return outcome.decide(Later(token))

    def _join_again(
        self, group: ClassicGroup, member: Member, request: JoinGroupRequest, now_ms: int
    ) -> Decision[JoinGroupResponse]:
        is_unchanged = member.protocols == _protocols(request)
        if group.state is State.COMPLETING_REBALANCE and is_unchanged:
            return Decision(generation_of(group, member))  # its first answer may have been lost
        # The leader may know of changes that the group does not, such as new partitions.
        may_stay = is_unchanged and member.member_id != group.leader
        if group.state is State.STABLE and may_stay:
            return Decision(generation_of(group, member))
        outcome = Outcome()
        token = self._park(group, member, request, outcome)
        self._rebalancing.prepare_or_complete(group, outcome, now_ms)
        return outcome.decide(Later(token))

    def _park(
        self, group: ClassicGroup, member: Member, request: JoinGroupRequest, outcome: Outcome
    ) -> int:
        token = next(self._tokens)
        # Whoever sent the JoinGroup before this one has given up on it.
        refusal = refuse_join(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        outcome.answer(group.members.take_join(member), refusal)
        group.members.park_join(member, token)
        self._update(group, member, request)
        return token

    def _update(self, group: ClassicGroup, member: Member, request: JoinGroupRequest) -> None:
        group.members.update_protocols(member, _protocols(request))
        member.rebalance_timeout_ms = _rebalance_timeout_ms(request)
        member.session_timeout_ms = request.session_timeout_ms

    def _replace(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        client: ClientInfo,
        old_id: str,
        member_id: str,
        now_ms: int,
    ) -> Decision[JoinGroupResponse]:
        """An instance came back without its id, so it has restarted: it gets its old place."""
        outcome = Outcome()
        old_leader = group.leader
        member = self._take_over(group, old_id, member_id, outcome)
        self._update(group, member, request)
        self._sessions.renew(group, member, now_ms)
        if group.state is State.STABLE and group.members.select_protocol() == group.protocol:
            assignments = {each.member_id: each.assignment for each in group.members}
            changed_at_ms = group.state_changed_at_ms
            outcome.records.append(generation_record(group, assignments, changed_at_ms))
            return outcome.decide(_resume(group, member, old_leader, client))
        token = next(self._tokens)
        group.members.park_join(member, token)
        self._rebalancing.prepare_or_complete(group, outcome, now_ms)
        return outcome.decide(Later(token))

    def _take_over(
        self, group: ClassicGroup, old_id: str, member_id: str, outcome: Outcome
    ) -> Member:
        """Fences the old member, and puts one with the new id in its place."""
        old = group.members.get(old_id)
        fenced = ErrorCode.FENCED_INSTANCE_ID
        outcome.answer(group.members.take_join(old), refuse_join(fenced, old_id))
        outcome.answer(old.sync_token, refuse_sync(fenced))
        self._sessions.end(group, old_id)
        group.members.remove(old_id)
        group.pending_syncs.discard(old_id)
        member = Member(
            member_id=member_id,
            instance_id=old.instance_id,
            client_id=old.client_id,
            client_host=old.client_host,
            rebalance_timeout_ms=old.rebalance_timeout_ms,
            session_timeout_ms=old.session_timeout_ms,
            protocols=old.protocols,
            assignment=old.assignment,
        )
        group.members.add(member)
        if group.leader == old_id:
            group.leader = member_id
        return member


def _new_member(
    request: JoinGroupRequest, client: ClientInfo, member_id: str, token: int
) -> Member:
    return Member(
        member_id=member_id,
        instance_id=request.group_instance_id,
        client_id=client.client_id,
        client_host=f"/{client.host}",  # as Java writes an address
        rebalance_timeout_ms=_rebalance_timeout_ms(request),
        session_timeout_ms=request.session_timeout_ms,
        protocols=_protocols(request),
        is_new=True,
        join_token=token,
    )


def _resume(
    group: ClassicGroup, member: Member, old_leader: str | None, client: ClientInfo
) -> JoinGroupResponse:
    """The generation goes on with the instance's new id.

    A leader that came back must not assign the work again. It is told to skip that since v9; older
    clients are told that the id which is gone leads.
    """
    if client.api_version < _SKIP_ASSIGNMENT_VERSION:
        return joined(group, member, members=(), leader=old_leader)
    is_leader = member.member_id == group.leader
    members = group.members if is_leader else ()
    return joined(group, member, members=members, skip_assignment=is_leader)


def _supports(group: ClassicGroup, request: JoinGroupRequest) -> bool:
    return group.supports(request.protocol_type, [each.name for each in request.protocols])


def _protocols(request: JoinGroupRequest) -> tuple[SupportedProtocol, ...]:
    return tuple(SupportedProtocol(each.name, bytes(each.metadata)) for each in request.protocols)


def _rebalance_timeout_ms(request: JoinGroupRequest) -> int:
    """Version 0 has one timeout for both."""
    if request.rebalance_timeout_ms == -1:
        return request.session_timeout_ms
    return request.rebalance_timeout_ms
