"""All groups of one partition: who is in them, and what they have committed.

Replay is the one way into hard state (see ClassicGroup and Offsets for which that is); deadlines
and who waits are this leader's view. Commands are the methods of the parts, which share the table.

Not here: share and streams groups. Their records stay in the log unread.
"""

from dataclasses import replace
from itertools import count
from random import Random

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
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.committing import OffsetCommits
from snakka.coordinators.groups.consumer.advancing import Advancing
from snakka.coordinators.groups.consumer.classic_members import ClassicMembers
from snakka.coordinators.groups.consumer.describing import describe
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.heartbeating import Heartbeats
from snakka.coordinators.groups.consumer.migrating import downgrade_records, may_downgrade
from snakka.coordinators.groups.consumer.sessions import (
    ConsumerSessionEnd,
    DowngradeCheck,
    DowngradedRebalance,
    RevocationEnd,
)
from snakka.coordinators.groups.consumer.stored import ConsumerKey, group_tombstones
from snakka.coordinators.groups.consumer.stored import replay as replay_consumer
from snakka.coordinators.groups.consumer.topics import Topics
from snakka.coordinators.groups.fetching import fetch
from snakka.coordinators.groups.offsets import Offsets
from snakka.coordinators.groups.removing import Removals
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.groups.table import ConsumerGroupTable, GroupTable, get_or_create
from snakka.protocol.internal.classic_groups import GroupMetadataKey, GroupMetadataValue
from snakka.protocol.internal.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)
from snakka.protocol.internal.kinds import CoordinatorValue
from snakka.protocol.internal.offsets import OffsetCommitKey, OffsetCommitValue
from snakka.protocol.messages.consumer_group_describe import (
    DescribedGroup as DescribedConsumerGroup,
)
from snakka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from snakka.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from snakka.protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchResponseGroup
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class GroupMachine:
    """The parts that decide, and the state that they share."""

    def __init__(self, settings: GroupSettings, topics: Topics) -> None:
        self._settings = settings
        self._topics = topics
        self.groups: GroupTable = {}
        self.consumer_groups: ConsumerGroupTable = {}
        self.offsets = Offsets()
        self._sessions = Sessions()
        tokens = count(1)
        self._rebalancing = Rebalancing(self._sessions, settings)
        self.joining = Joining(self.groups, self._sessions, self._rebalancing, tokens, settings)
        self._syncing = Syncing(self.groups, self._sessions, tokens)
        self._leaving = Leaving(self.groups, self._sessions, self._rebalancing)
        self.commits = OffsetCommits(self.groups, self.consumer_groups, self._sessions, settings)
        self.removals = Removals(
            self.groups, self.consumer_groups, self.offsets, self._sessions, settings
        )
        self._advancing = Advancing(self._sessions.deadlines, topics, settings)
        self.consumers = Heartbeats(
            self.consumer_groups, self.groups, self._advancing, topics, settings
        )
        self._classic_members = ClassicMembers(
            self._advancing, self._sessions.deadlines, topics, settings
        )

    def join(
        self, request: JoinGroupRequest, client: ClientInfo, now_ms: int, random: Random
    ) -> Decision[JoinGroupResponse]:
        """JoinGroup, which an empty consumer group makes room for."""
        group = self.consumer_groups.get(request.group_id)
        if group is not None and group.members:
            return self._classic_members.join(group, request, client, now_ms, random)
        decision = self.joining.join(request, client, now_ms, random)
        if group is None:
            return decision
        return replace(decision, records=(*group_tombstones(request.group_id), *decision.records))

    def sync(self, request: SyncGroupRequest, now_ms: int) -> Decision[SyncGroupResponse]:
        group = self.consumer_groups.get(request.group_id)
        if group is None:
            return self._syncing.sync(request, now_ms)
        return self._classic_members.sync(group, request, now_ms)

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> Decision[HeartbeatResponse]:
        group = self.consumer_groups.get(request.group_id)
        if group is None:
            return self._syncing.heartbeat(request, now_ms)
        return self._classic_members.heartbeat(group, request, now_ms)

    def leave(self, request: LeaveGroupRequest, now_ms: int) -> Decision[LeaveGroupResponse]:
        group = self.consumer_groups.get(request.group_id)
        if group is None:
            return self._leaving.leave(request, now_ms)
        return self._classic_members.leave(group, request, now_ms)

    def describe_consumer_group(self, group_id: str) -> Decision[DescribedConsumerGroup]:
        assignor = self._settings.consumer_assignors[0]
        return Decision(describe(self.consumer_groups, self._topics, group_id, assignor))

    def fetch(
        self, request: OffsetFetchRequestGroup, *, require_stable: bool
    ) -> Decision[OffsetFetchResponseGroup]:
        group = self.consumer_groups.get(request.group_id)
        if group is not None:
            group.check_fetch(request.member_id, request.member_epoch)
        return fetch(self.offsets, request, require_stable=require_stable)

    def replay(self, record: WrittenRecord) -> None:
        match record.key, record.value:
            case OffsetCommitKey() as key, OffsetCommitValue() as value:
                if key.group not in self.consumer_groups:
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
            case ConsumerGroupMetadataKey() as key, None:
                self.consumer_groups.pop(key.group_id, None)
                self._advancing.forget(key.group_id)
                if key.group_id in self.offsets.group_ids():
                    get_or_create(self.groups, key.group_id)  # it still keeps them
            case (
                ConsumerGroupMetadataKey()
                | ConsumerGroupMemberMetadataKey()
                | ConsumerGroupTargetAssignmentMetadataKey()
                | ConsumerGroupTargetAssignmentMemberKey()
                | ConsumerGroupCurrentMemberAssignmentKey()
                | ConsumerGroupRegularExpressionKey()
            ) as key, value:
                self._replay_consumer(key, value)

    def _replay_consumer(self, key: ConsumerKey, value: CoordinatorValue | None) -> None:
        group = self.consumer_groups.get(key.group_id)
        if group is None:
            if value is None:
                return
            self.groups.pop(key.group_id, None)  # it only kept offsets, as far as was known
            group = self.consumer_groups[key.group_id] = ConsumerGroup(key.group_id)
        replay_consumer(group, key, value)

    def replay_end_transaction(self, producer_id: int, is_committed: bool) -> None:
        self.offsets.replay_end_transaction(producer_id, is_committed)

    def on_loaded(self, now_ms: int) -> Decision[None]:
        outcome = Outcome()
        for group in self.groups.values():
            for member in group.members:
                self._sessions.renew(group, member, now_ms)
            if len(group.members) > self._settings.max_size:
                self._rebalancing.prepare(group, outcome, now_ms)
        for consumer_group in self.consumer_groups.values():
            for consumer in consumer_group.members.values():
                self._advancing.renew(consumer_group, None, consumer, now_ms)
            members = consumer_group.members.values()
            self._advancing.check_downgrade(consumer_group.group_id, members, now_ms)
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
        if isinstance(due, ConsumerSessionEnd | RevocationEnd):
            consumer_group = self.consumer_groups.get(due.group_id)
            if consumer_group is not None and due.member_id in consumer_group.members:
                outcome.records += self._advancing.fence(consumer_group, [due.member_id], now_ms)
            return
        if isinstance(due, DowngradeCheck):
            self._downgrade(due.group_id, outcome, now_ms)
            return
        group = self.groups.get(due.group_id)
        if group is None:
            return
        match due:
            case JoinEnd():
                self._rebalancing.on_join_end(group, outcome, now_ms)
            case SyncEnd():
                self._rebalancing.on_sync_end(group, outcome, now_ms)
            case DowngradedRebalance():
                for member in group.members:
                    self._sessions.renew(group, member, now_ms)
                self._rebalancing.prepare_or_complete(group, outcome, now_ms)
            case SessionEnd(member_id=member_id):
                self._expire_session(group.group_id, member_id, outcome, now_ms)

    def _downgrade(self, group_id: str, outcome: Outcome, now_ms: int) -> None:
        group = self.consumer_groups.get(group_id)
        if group is not None and may_downgrade(group, self._settings):
            outcome.records += downgrade_records(group, self._topics, now_ms)
            self._sessions.deadlines.set(DowngradedRebalance(group_id), now_ms)

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
