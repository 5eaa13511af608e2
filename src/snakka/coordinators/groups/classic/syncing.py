"""SyncGroup and Heartbeat: members of a generation get their work, and stay.

The leader's SyncGroup stores the generation; the others wait for it. All of them are answered once
the record is committed, so that nobody works on what a failover would forget.
"""

from collections.abc import Iterator

from snakka.coordinators.decision import Decision, Later
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.group import ClassicGroup, State
from snakka.coordinators.groups.classic.outcome import Outcome, refuse_sync, synced
from snakka.coordinators.groups.classic.sessions import Sessions, SyncEnd
from snakka.coordinators.groups.classic.stored import generation_record
from snakka.coordinators.groups.table import GroupTable
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class Syncing:
    """Decides about SyncGroup and Heartbeat."""

    def __init__(self, groups: GroupTable, sessions: Sessions, tokens: Iterator[int]) -> None:
        self._groups = groups
        self._sessions = sessions
        self._tokens = tokens

    def sync(self, request: SyncGroupRequest, now_ms: int) -> Decision[SyncGroupResponse]:
        group = self._get(request.group_id)
        group.check_member(request.member_id, request.group_instance_id)
        if request.generation_id != group.generation:
            raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
        _check_protocol(request.protocol_type, group.protocol_type)
        _check_protocol(request.protocol_name, group.protocol)
        if group.state is State.PREPARING_REBALANCE:
            raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
        group.pending_syncs.discard(request.member_id)
        if group.state is State.COMPLETING_REBALANCE:
            return self._wait_or_assign(group, request, now_ms)
        if not group.pending_syncs:
            self._sessions.deadlines.clear(SyncEnd(group.group_id))
        member = group.members.get(request.member_id)
        return Decision(synced(group, member.assignment))

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> Decision[HeartbeatResponse]:
        group = self._get(request.group_id)
        group.check_member(request.member_id, request.group_instance_id)
        if request.generation_id != group.generation:
            raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
        self._sessions.renew(group, group.members.get(request.member_id), now_ms)
        is_rebalancing = group.state is State.PREPARING_REBALANCE
        error = ErrorCode.REBALANCE_IN_PROGRESS if is_rebalancing else ErrorCode.NONE
        return Decision(HeartbeatResponse(error_code=error))

    def _get(self, group_id: str) -> ClassicGroup:
        group = self._groups.get(group_id)
        if group is None or group.state is State.EMPTY:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return group

    def _wait_or_assign(
        self, group: ClassicGroup, request: SyncGroupRequest, now_ms: int
    ) -> Decision[SyncGroupResponse]:
        outcome = Outcome()
        token = next(self._tokens)
        member = group.members.get(request.member_id)
        outcome.answer(member.sync_token, refuse_sync(ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_token = token
        if request.member_id == group.leader:
            assignments = {each.member_id: bytes(each.assignment) for each in request.assignments}
            self._assign(group, assignments, outcome, now_ms)
        return outcome.decide(Later(token))

    def _assign(
        self, group: ClassicGroup, assignments: dict[str, bytes], outcome: Outcome, now_ms: int
    ) -> None:
        """Replaying the record makes the group Stable."""
        outcome.records.append(generation_record(group, assignments, now_ms))
        for member in group.members:
            if member.sync_token is not None:
                assignment = assignments.get(member.member_id, b"")
                outcome.answer(member.sync_token, synced(group, assignment))
                member.sync_token = None
                self._sessions.renew(group, member, now_ms)


def _check_protocol(claimed: str | None, actual: str | None) -> None:
    if claimed is not None and actual is not None and claimed != actual:
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
