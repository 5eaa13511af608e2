"""From one generation to the next: waiting for everybody, beginning, and giving up on the absent.

The first generation of a group waits a little for more members, so that a fleet that starts
does not rebalance once for each of its members.
"""

from snakka.coordinators.groups.classic.group import ClassicGroup, State
from snakka.coordinators.groups.classic.members import Member
from snakka.coordinators.groups.classic.outcome import (
    Outcome,
    generation_of,
    refuse_join,
    refuse_sync,
)
from snakka.coordinators.groups.classic.sessions import JoinEnd, Sessions, SyncEnd
from snakka.coordinators.groups.classic.stored import generation_record
from snakka.coordinators.groups.settings import GroupSettings
from snakka.protocol.error_codes import ErrorCode


class Rebalancing:
    """Moves groups between their states."""

    def __init__(self, sessions: Sessions, settings: GroupSettings) -> None:
        self._sessions = sessions
        self._deadlines = sessions.deadlines
        self._settings = settings

    def prepare_or_complete(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        """Something about the members has changed."""
        if group.state is State.PREPARING_REBALANCE:
            self.complete_if_all_joined(group, outcome, now_ms)
        else:
            self.prepare(group, outcome, now_ms)

    def prepare(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        """Everybody is to join again."""
        if group.state is State.COMPLETING_REBALANCE:
            self._refuse_syncs(group, outcome, now_ms)
        group.pending_syncs.clear()
        self._deadlines.clear(SyncEnd(group.group_id))
        group.is_initial_rebalance = group.state is State.EMPTY
        group.transition(State.PREPARING_REBALANCE, now_ms)
        rebalance_timeout_ms = group.members.rebalance_timeout_ms()
        if group.is_initial_rebalance:
            delay_ms = self._settings.initial_rebalance_delay_ms
            group.has_new_member = False
            group.initial_rebalance_end_ms = now_ms + max(rebalance_timeout_ms, delay_ms)
            self._deadlines.set(JoinEnd(group.group_id), now_ms + delay_ms)
        elif group.has_all_joined:
            self._complete_join(group, outcome, now_ms)
        else:
            self._deadlines.set(JoinEnd(group.group_id), now_ms + rebalance_timeout_ms)

    def complete_if_all_joined(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        """Begins the next generation as soon as nobody is missing."""
        is_waiting = group.state is State.PREPARING_REBALANCE and not group.is_initial_rebalance
        if is_waiting and group.has_all_joined:
            self._complete_join(group, outcome, now_ms)

    def on_join_end(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        """The time to join is over."""
        end_ms = group.initial_rebalance_end_ms
        if group.is_initial_rebalance and group.has_new_member and now_ms < end_ms:
            group.has_new_member = False
            next_ms = min(now_ms + self._settings.initial_rebalance_delay_ms, end_ms)
            self._deadlines.set(JoinEnd(group.group_id), next_ms)
        elif group.state is State.PREPARING_REBALANCE:
            self._complete_join(group, outcome, now_ms)

    def on_sync_end(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        """Who has not asked for its work by now is gone."""
        is_assigned = group.state is State.STABLE and not group.pending_syncs
        if is_assigned or group.state not in (State.STABLE, State.COMPLETING_REBALANCE):
            return
        for member_id in list(group.pending_syncs):
            self._sessions.end(group, member_id)
            group.remove(member_id)
        self.prepare(group, outcome, now_ms)

    def remove(self, group: ClassicGroup, member: Member, outcome: Outcome) -> None:
        """A member goes; whoever asks for it learns that it is no member."""
        self._sessions.end(group, member.member_id)
        refusal = refuse_join(ErrorCode.UNKNOWN_MEMBER_ID)
        outcome.answer(group.members.take_join(member), refusal)
        outcome.answer(member.sync_token, refuse_sync(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member.member_id)

    def _complete_join(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        self._deadlines.clear(JoinEnd(group.group_id))
        for member in group.members:
            # A static member keeps its place until its session ends (KIP-345).
            if member.join_token is None and member.instance_id is None:
                self._sessions.end(group, member.member_id)
                group.remove(member.member_id)
        if len(group.members) and not group.elect_joined_leader():
            # Only absent static members are left: their sessions end, or they come.
            wait_ms = group.members.rebalance_timeout_ms()
            self._deadlines.set(JoinEnd(group.group_id), now_ms + wait_ms)
            return
        group.is_initial_rebalance = False
        group.generation += 1
        if len(group.members):
            self._begin_generation(group, outcome, now_ms)
        else:
            group.protocol = None
            group.leader = None
            group.transition(State.EMPTY, now_ms)
            outcome.records.append(generation_record(group, {}, now_ms))

    def _begin_generation(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        group.protocol = group.members.select_protocol()
        group.note_subscriptions()
        group.transition(State.COMPLETING_REBALANCE, now_ms)
        group.pending_syncs = {each.member_id for each in group.members}
        for member in group.members:
            outcome.answer(group.members.take_join(member), generation_of(group, member))
            member.is_new = False
            self._sessions.renew(group, member, now_ms)
        wait_ms = group.members.rebalance_timeout_ms()
        self._deadlines.set(SyncEnd(group.group_id), now_ms + wait_ms)

    def _refuse_syncs(self, group: ClassicGroup, outcome: Outcome, now_ms: int) -> None:
        for member in group.members:
            member.assignment = b""
            if member.sync_token is not None:
                outcome.answer(member.sync_token, refuse_sync(ErrorCode.REBALANCE_IN_PROGRESS))
                member.sync_token = None
                self._sessions.renew(group, member, now_ms)
