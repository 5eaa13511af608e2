"""ConsumerGroupHeartbeat: members join, say what they own, learn what to own, and leave.

Each heartbeat may change the group's epoch (what members want, or the topics), then its target (who
is to have what), then takes its own member one step towards that.

Not here: regular expressions, and members of the classic protocol in a consumer group.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from uuid import UUID

from snakka.coordinators.deadlines import Deadlines
from snakka.coordinators.decision import Decision, NewRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.sessions import Due
from snakka.coordinators.groups.classic.stored import tombstone as classic_tombstone
from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.consumer import stored
from snakka.coordinators.groups.consumer.assigning import ASSIGNORS, Subscriber, preferred_assignor
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import (
    LEAVE_EPOCH,
    LEAVE_FOR_A_WHILE_EPOCH,
    NO_PARTITIONS,
    Member,
    MemberState,
    Partitions,
)
from snakka.coordinators.groups.consumer.reconciling import reconcile
from snakka.coordinators.groups.consumer.requests import (
    check_epoch,
    check_request,
    owned_partitions,
    with_wishes,
)
from snakka.coordinators.groups.consumer.sessions import ConsumerSessionEnd, RevocationEnd
from snakka.coordinators.groups.consumer.topics import TopicInfo, Topics
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
        deadlines: Deadlines[Due],
        topics: Topics,
        settings: GroupSettings,
    ) -> None:
        self._groups = groups
        self._classic_groups = classic_groups
        self._deadlines = deadlines
        self._topics = topics
        self._settings = settings
        self._seen_versions: dict[str, int] = {}  # soft: of the topics, by group

    def heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        client: ClientInfo,
        now_ms: int,
        random: Random,
    ) -> Decision[ConsumerGroupHeartbeatResponse]:
        check_request(request)
        if request.member_epoch < 0:
            return self._leave(request)
        records: list[NewRecord] = []
        group = self._get_or_new(request, records)
        member_id = request.member_id or str(UUID(bytes=bytes(random_uuid(random))))
        before = _find_or_new(group, request, member_id)
        targets = dict(group.targets)
        members = dict(group.members)
        if before.member_id != member_id:
            before = _take_over(group, before, member_id, members, targets, records)
        member = members[member_id] = with_wishes(before, request, client)
        epoch = self._next_epoch(group, before, members, records)
        if member != before or member_id not in group.members:
            records.append(stored.member_record(group.group_id, member))
        target_epoch = group.assignment_epoch
        if epoch > target_epoch:
            target_epoch = epoch
            self._assign(group, members, targets, epoch, records, now_ms)
        target = targets.get(member_id, NO_PARTITIONS)
        member = reconcile(member, target, target_epoch, group.is_held, owned_partitions(request))
        if member != members[member_id] or member_id not in group.members:
            records.append(stored.current_record(group.group_id, member))
        self._renew(group, members[member_id], member, now_ms)
        return Decision(self._respond(request, before, member), tuple(records))

    def fence(self, group: ConsumerGroup, member_id: str) -> list[NewRecord]:
        """A member is out: what it had is free."""
        self._deadlines.clear(ConsumerSessionEnd(group.group_id, member_id))
        self._deadlines.clear(RevocationEnd(group.group_id, member_id))
        epoch = stored.epoch_record(group.group_id, group.epoch + 1, group.metadata_hash)
        return [*stored.member_tombstones(group.group_id, member_id), epoch]

    def forget(self, group_id: str) -> None:
        """The group is gone."""
        self._seen_versions.pop(group_id, None)

    def start_sessions(self, group: ConsumerGroup, now_ms: int) -> None:
        """The group has been loaded."""
        for member in group.members.values():
            self._renew(group, None, member, now_ms)

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

    def _next_epoch(
        self,
        group: ConsumerGroup,
        before: Member,
        members: dict[str, Member],
        records: list[NewRecord],
    ) -> int:
        """The group's epoch, which goes up with every change of wishes or topics.

        A new member's first wish is such a change.
        """
        after = members[before.member_id]
        has_changed = after.topics != before.topics or after.assignor != before.assignor
        metadata_hash = group.metadata_hash
        if has_changed or self._seen_versions.get(group.group_id) != self._topics.version:
            metadata_hash = _hash(self._known(members.values()))
        if not has_changed and metadata_hash == group.metadata_hash:
            self._seen_versions[group.group_id] = self._topics.version
            return group.epoch
        records.append(stored.epoch_record(group.group_id, group.epoch + 1, metadata_hash))
        return group.epoch + 1

    def _known(self, members: Iterable[Member]) -> dict[str, TopicInfo]:
        names = sorted({name for each in members for name in each.topics})
        found = {name: self._topics.find(name) for name in names}
        return {name: info for name, info in found.items() if info is not None}

    def _assign(
        self,
        group: ConsumerGroup,
        members: dict[str, Member],
        targets: dict[str, Partitions],
        epoch: int,
        records: list[NewRecord],
        now_ms: int,
    ) -> None:
        """Brings `targets` up to date."""
        known = self._known(members.values())
        subscribers = [
            Subscriber(
                each.member_id,
                each.instance_id,
                frozenset(known[name].topic_id for name in each.topics if name in known),
                targets.get(each.member_id, NO_PARTITIONS),
            )
            for each in members.values()
        ]
        name = preferred_assignor(each.assignor for each in members.values())
        counts = {each.topic_id: each.partition_count for each in known.values()}
        for member_id, target in ASSIGNORS[name](subscribers, counts).items():
            if target != targets.get(member_id):
                targets[member_id] = target
                records.append(stored.target_record(group.group_id, member_id, target))
        records.append(stored.target_epoch_record(group.group_id, epoch, now_ms))

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
            records = self.fence(group, member.member_id)
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

    def _renew(
        self, group: ConsumerGroup, before: Member | None, member: Member, now_ms: int
    ) -> None:
        session_ms = self._settings.consumer_session_timeout_ms
        self._deadlines.set(
            ConsumerSessionEnd(group.group_id, member.member_id), now_ms + session_ms
        )
        revocation = RevocationEnd(group.group_id, member.member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._deadlines.clear(revocation)
        elif before is None or member != before:
            self._deadlines.set(revocation, now_ms + member.rebalance_timeout_ms)

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
            heartbeat_interval_ms=self._settings.consumer_heartbeat_interval_ms,
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


def _take_over(
    group: ConsumerGroup,
    old: Member,
    member_id: str,
    members: dict[str, Member],
    targets: dict[str, Partitions],
    records: list[NewRecord],
) -> Member:
    """An instance is back under another id: its place and its partitions are its own."""
    records += stored.member_tombstones(group.group_id, old.member_id)
    del members[old.member_id]
    targets[member_id] = targets.pop(old.member_id, NO_PARTITIONS)
    records.append(stored.target_record(group.group_id, member_id, targets[member_id]))
    return replace(old, member_id=member_id, epoch=0, previous_epoch=0)


def _hash(known: dict[str, TopicInfo]) -> int:
    """Another number where any topic has changed; no meaning beyond that."""
    digest = hashlib.blake2b(repr(sorted(known.items())).encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def _write(assigned: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=indexes)
            for topic_id, indexes in stored.by_topic(assigned).items()
        ]
    )
