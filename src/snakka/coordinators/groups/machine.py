"""All groups of one partition: who is in them, and what they have committed.

Replay is the one way into hard state (see ClassicGroup and Offsets for which that is); deadlines
and who waits are this leader's view. Commands are the methods of the parts, which share the table.

Not here: consumer groups (KIP-848), share and streams groups. Their records stay in the log unread.
"""

from itertools import count

from snakka.coordinators.decision import Decision, WrittenRecord
from snakka.coordinators.groups.classic.joining import Joining
from snakka.coordinators.groups.classic.leaving import Leaving
from snakka.coordinators.groups.classic.outcome import Outcome
from snakka.coordinators.groups.classic.rebalancing import Rebalancing
from snakka.coordinators.groups.classic.sessions import (
    Due,
    JoinEnd,
    OffsetCheck,
    SessionEnd,
    Sessions,
    SyncEnd,
)
from snakka.coordinators.groups.classic.stored import replay_generation
from snakka.coordinators.groups.classic.syncing import Syncing
from snakka.coordinators.groups.committing import OffsetCommits
from snakka.coordinators.groups.offsets import Offsets
from snakka.coordinators.groups.removing import Removals
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.groups.table import GroupTable, get_or_create
from snakka.protocol.internal.classic_groups import GroupMetadataKey, GroupMetadataValue
from snakka.protocol.internal.offsets import OffsetCommitKey, OffsetCommitValue


class GroupMachine:
    """The parts that decide, and the state that they share."""

    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self.groups: GroupTable = {}
        self.offsets = Offsets()
        self._sessions = Sessions()
        tokens = count(1)
        self._rebalancing = Rebalancing(self._sessions, settings)
        self.joining = Joining(self.groups, self._sessions, self._rebalancing, tokens, settings)
        self.syncing = Syncing(self.groups, self._sessions, tokens)
        self.leaving = Leaving(self.groups, self._sessions, self._rebalancing)
        self.commits = OffsetCommits(self.groups, self._sessions, settings)
        self.removals = Removals(self.groups, self.offsets, self._sessions, settings)

    def replay(self, record: WrittenRecord) -> None:
        match record.key, record.value:
            case OffsetCommitKey() as key, OffsetCommitValue() as value:
                get_or_create(self.groups, key.group)
                self.offsets.replay(key, value, record.offset, record.producer_id)
            case OffsetCommitKey() as key, None:
                self.offsets.replay(key, None, record.offset, record.producer_id)
            case GroupMetadataKey() as key, GroupMetadataValue() as value:
                replay_generation(get_or_create(self.groups, key.group), value)
            case GroupMetadataKey() as key, None:
                group = self.groups.pop(key.group, None)
                if group is not None:
                    self._sessions.end_all(group)

    def replay_end_transaction(self, producer_id: int, is_committed: bool) -> None:
        self.offsets.replay_end_transaction(producer_id, is_committed)

    def on_loaded(self, now_ms: int) -> Decision[None]:
        outcome = Outcome()
        for group in self.groups.values():
            for member in group.members:
                self._sessions.renew(group, member, now_ms)
            if len(group.members) > self._settings.max_size:
                self._rebalancing.prepare(group, outcome, now_ms)
        self._check_offsets_in(self._settings.offsets_retention_check_interval_ms, now_ms)
        return outcome.decide(None)

    def next_deadline_ms(self) -> int | None:
        return self._sessions.deadlines.next_ms()

    def expire(self, now_ms: int) -> Decision[None]:
        outcome = Outcome()
        while (due := self._sessions.deadlines.pop_due(now_ms)) is not None:
            self._expire(due, outcome, now_ms)
            if outcome.records:
                break  # what comes next is to be decided with these replayed
        return outcome.decide(None)

    def _expire(self, due: Due, outcome: Outcome, now_ms: int) -> None:
        if isinstance(due, OffsetCheck):
            self._expire_offsets(outcome, now_ms)
            return
        group = self.groups.get(due.group_id)
        if group is None:
            return
        match due:
            case JoinEnd():
                self._rebalancing.on_join_end(group, outcome, now_ms)
            case SyncEnd():
                self._rebalancing.on_sync_end(group, outcome, now_ms)
            case SessionEnd(member_id=member_id):
                self._expire_session(group.group_id, member_id, outcome, now_ms)

    def _expire_session(self, group_id: str, member_id: str, outcome: Outcome, now_ms: int) -> None:
        group = self.groups[group_id]
        member = group.members.find(member_id)
        if member is None:
            group.remove(member_id)  # an id that nobody came back with
            self._rebalancing.complete_if_all_joined(group, outcome, now_ms)
            self.removals.forget_if_unused(group)
            return
        is_waiting = member.join_token is not None or member.sync_token is not None
        if is_waiting and not member.is_new:
            return  # the coordinator's turn: its session goes on with the answer
        self._rebalancing.remove(group, member, outcome)
        self._rebalancing.prepare_or_complete(group, outcome, now_ms)

    def _expire_offsets(self, outcome: Outcome, now_ms: int) -> None:
        decision = self.removals.expire(now_ms)
        outcome.records += decision.records
        pause_ms = self._settings.offsets_retention_check_interval_ms
        self._check_offsets_in(min(1_000, pause_ms) if decision.response else pause_ms, now_ms)

    def _check_offsets_in(self, delay_ms: int, now_ms: int) -> None:
        self._sessions.deadlines.set(OffsetCheck(), now_ms + delay_ms)
