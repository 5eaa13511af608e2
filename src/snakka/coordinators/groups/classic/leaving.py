"""LeaveGroup: members go, by their own wish or an administrator's (KIP-345)."""

from snakka.coordinators.decision import Decision
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.group import ClassicGroup, State
from snakka.coordinators.groups.classic.outcome import Outcome
from snakka.coordinators.groups.classic.rebalancing import Rebalancing
from snakka.coordinators.groups.classic.sessions import Sessions
from snakka.coordinators.groups.table import GroupTable
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)


class Leaving:
    """Decides about LeaveGroup."""

    def __init__(self, groups: GroupTable, sessions: Sessions, rebalancing: Rebalancing) -> None:
        self._groups = groups
        self._sessions = sessions
        self._rebalancing = rebalancing

    def leave(self, request: LeaveGroupRequest, now_ms: int) -> Decision[LeaveGroupResponse]:
        group = self._groups.get(request.group_id)
        outcome = Outcome()
        errors = [self._remove(group, each, outcome) for each in request.members]
        if group is not None and ErrorCode.NONE in errors and group.state is not State.EMPTY:
            self._rebalancing.prepare_or_complete(group, outcome, now_ms)
        members = [
            MemberResponse(
                member_id=each.member_id,
                group_instance_id=each.group_instance_id,
                error_code=error,
            )
            for each, error in zip(request.members, errors, strict=True)
        ]
        return outcome.decide(LeaveGroupResponse(error_code=ErrorCode.NONE, members=members))

    def _remove(
        self, group: ClassicGroup | None, identity: MemberIdentity, outcome: Outcome
    ) -> ErrorCode:
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if identity.member_id in group.pending_joins:
            self._sessions.end(group, identity.member_id)
            group.remove(identity.member_id)
            return ErrorCode.NONE
        # An administrator knows the instance only.
        static_id = group.members.find_static_id(identity.group_instance_id)
        member_id = identity.member_id or static_id or ""
        try:
            group.check_member(member_id, identity.group_instance_id)
        except CoordinatorError as error:
            return error.code
        self._rebalancing.remove(group, group.members.get(member_id), outcome)
        return ErrorCode.NONE
