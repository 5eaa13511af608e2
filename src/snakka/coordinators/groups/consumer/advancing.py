"""A consumer group goes on: what a member wants moves the group's epoch, that the target, and the
target the member by one step.

A member wants the topics it names, and those that match its expression (RE2 syntax). Expressions
are matched when a member brings one, and again some time after topics have come or gone.

Not here: who may ask for that (heartbeating.py, classic_members.py).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from snakka.coordinators.deadlines import Deadlines
from snakka.coordinators.decision import NewRecord
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.expressions import InvalidExpressionError
from snakka.coordinators.groups.classic.sessions import Due
from snakka.coordinators.groups.consumer import stored
from snakka.coordinators.groups.consumer.assigning import ASSIGNORS, Subscriber, preferred_assignor
from snakka.coordinators.groups.consumer.group import ConsumerGroup
from snakka.coordinators.groups.consumer.member import (
    NO_PARTITIONS,
    Expression,
    Member,
    MemberState,
    Partitions,
)
from snakka.coordinators.groups.consumer.reconciling import reconcile
from snakka.coordinators.groups.consumer.sessions import (
    ConsumerSessionEnd,
    DowngradeCheck,
    RevocationEnd,
)
from snakka.coordinators.groups.consumer.topics import TopicInfo, Topics
from snakka.coordinators.groups.settings import GroupSettings
from snakka.protocol.error_codes import ErrorCode

_REMATCH_MS: Final = 10_000  # topics often come in numbers


@dataclass(slots=True)
class Step:
    """A group while a command changes it; `records` will make it so."""

    group: ConsumerGroup
    members: dict[str, Member]
    targets: dict[str, Partitions]
    expressions: dict[str, Expression]
    records: list[NewRecord]

    @classmethod
    def of(cls, group: ConsumerGroup, records: list[NewRecord]) -> "Step":
        return cls(
            group, dict(group.members), dict(group.targets), dict(group.expressions), records
        )

    def wanted(self, member: Member) -> frozenset[str]:
        """The names of the topics that a member is subscribed to."""
        if member.expression is None:
            return member.topics
        return member.topics | self.expressions[member.expression].topics

    def drop_unused(self, expression: str | None) -> None:
        """Nobody is left who brought it."""
        if (
            expression is not None
            and expression in self.expressions
            and not any(each.expression == expression for each in self.members.values())
        ):
            del self.expressions[expression]
            self.records.append(stored.expression_record(self.group.group_id, expression, None))


class Advancing:
    """Moves groups and members on."""

    def __init__(self, deadlines: Deadlines[Due], topics: Topics, settings: GroupSettings) -> None:
        self._deadlines = deadlines
        self._topics = topics
        self._settings = settings
        self._seen_versions: dict[str, int] = {}  # soft: of the topics, by group

    def advance(
        self, step: Step, before: Member, after: Member, owned: Partitions | None, now_ms: int
    ) -> Member:
        """What becomes of a member that was `before` and says that it is `after`."""
        group, member_id = step.group, after.member_id
        is_new = member_id not in group.members
        step.members[member_id] = after
        has_matched = self._match(step, before, after, now_ms)
        epoch = self._next_epoch(step, before, after, has_matched=has_matched)
        if after != before or is_new:
            step.records.append(stored.member_record(group.group_id, after))
        target_epoch = group.assignment_epoch
        if epoch > target_epoch:
            target_epoch = epoch
            self._assign(step, epoch, now_ms)
        target = step.targets.get(member_id, NO_PARTITIONS)
        moved = reconcile(after, target, target_epoch, group.is_held, owned)
        if moved != after or is_new:
            step.records.append(stored.current_record(group.group_id, moved))
        return moved

    def renew_session(self, group: ConsumerGroup, member: Member, now_ms: int) -> None:
        """The member has been heard of."""
        if member.classic is not None:
            session_ms = member.classic.session_timeout_ms
        else:
            session_ms = self._settings.of_group(group.group_id).session_timeout_ms
        self._deadlines.set(
            ConsumerSessionEnd(group.group_id, member.member_id), now_ms + session_ms
        )

    def renew(
        self, group: ConsumerGroup, before: Member | None, member: Member, now_ms: int
    ) -> None:
        """As `renew_session`, and whether it has time to give something up."""
        self.renew_session(group, member, now_ms)
        revocation = RevocationEnd(group.group_id, member.member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._deadlines.clear(revocation)
        elif before is None or member != before:
            self._deadlines.set(revocation, now_ms + member.rebalance_timeout_ms)

    def fence(
        self, group: ConsumerGroup, member_ids: Iterable[str], now_ms: int
    ) -> list[NewRecord]:
        """Members are out: what they had is free."""
        step = Step.of(group, [])
        for member_id in member_ids:
            self._deadlines.clear(ConsumerSessionEnd(group.group_id, member_id))
            self._deadlines.clear(RevocationEnd(group.group_id, member_id))
            step.records += stored.member_tombstones(group.group_id, member_id)
            step.drop_unused(step.members.pop(member_id).expression)
        if step.members:
            self.check_downgrade(group.group_id, step.members.values(), now_ms)
        epoch = stored.epoch_record(group.group_id, group.epoch + 1, group.metadata_hash)
        return [*step.records, epoch]

    def check_downgrade(self, group_id: str, members: Iterable[Member], now_ms: int) -> None:
        """Where only classic members are left the group is theirs again, as soon as may be."""
        if all(each.classic is not None for each in members):
            self._deadlines.set(DowngradeCheck(group_id), now_ms)

    def forget(self, group_id: str) -> None:
        """The group is gone."""
        self._seen_versions.pop(group_id, None)

    def _match(self, step: Step, before: Member, after: Member, now_ms: int) -> bool:
        """Brings expressions up to date; says whether any matches other topics than before."""
        if before.expression != after.expression:
            step.drop_unused(before.expression)
        version = self._topics.version
        has_changed = False
        for text in {*step.expressions, after.expression} - {None}:
            assert text is not None
            known = step.expressions.get(text)
            if known is not None and (
                known.version == version or now_ms - known.matched_at_ms < _REMATCH_MS
            ):
                continue
            found = Expression(self._find_topics(text), version, now_ms)
            has_changed = has_changed or known is None or known.topics != found.topics
            step.expressions[text] = found
            step.records.append(stored.expression_record(step.group.group_id, text, found))
        return has_changed

    def _find_topics(self, expression: str) -> frozenset[str]:
        try:
            return self._topics.match(expression)
        except InvalidExpressionError:
            raise CoordinatorError(ErrorCode.INVALID_REGULAR_EXPRESSION) from None

    def _next_epoch(self, step: Step, before: Member, after: Member, *, has_matched: bool) -> int:
        """The group's epoch, which goes up with every change of wishes or topics.

        A new member's first wish is such a change.
        """
        group = step.group
        has_changed = (
            after.topics != before.topics
            or after.expression != before.expression
            or after.assignor != before.assignor
        )
        metadata_hash = group.metadata_hash
        has_seen = self._seen_versions.get(group.group_id) == self._topics.version
        if has_changed or has_matched or not has_seen:
            metadata_hash = _hash(self._known(step))
        if not has_changed and metadata_hash == group.metadata_hash:
            self._seen_versions[group.group_id] = self._topics.version
            return group.epoch
        step.records.append(stored.epoch_record(group.group_id, group.epoch + 1, metadata_hash))
        return group.epoch + 1

    def _known(self, step: Step) -> dict[str, TopicInfo]:
        names = sorted({name for each in step.members.values() for name in step.wanted(each)})
        found = {name: self._topics.find(name) for name in names}
        return {name: info for name, info in found.items() if info is not None}

    def _assign(self, step: Step, epoch: int, now_ms: int) -> None:
        """Brings the targets up to date."""
        known, targets, group_id = self._known(step), step.targets, step.group.group_id
        subscribers = [
            Subscriber(
                each.member_id,
                each.instance_id,
                frozenset(known[name].topic_id for name in step.wanted(each) if name in known),
                targets.get(each.member_id, NO_PARTITIONS),
            )
            for each in step.members.values()
        ]
        name = self._choose_assignor(step.members.values())
        counts = {each.topic_id: each.partition_count for each in known.values()}
        for member_id, target in ASSIGNORS[name](subscribers, counts).items():
            if target != targets.get(member_id):
                targets[member_id] = target
                step.records.append(stored.target_record(group_id, member_id, target))
        step.records.append(stored.target_epoch_record(group_id, epoch, now_ms))

    def _choose_assignor(self, members: Iterable[Member]) -> str:
        wishes = (each.assignor for each in members)
        return preferred_assignor(wishes, self._settings.consumer_assignors[0])


def take_over(step: Step, old: Member, member_id: str) -> Member:
    """An instance is back under another id: its place and its partitions are its own."""
    group_id = step.group.group_id
    step.records += stored.member_tombstones(group_id, old.member_id)
    del step.members[old.member_id]
    step.targets[member_id] = step.targets.pop(old.member_id, NO_PARTITIONS)
    step.records.append(stored.target_record(group_id, member_id, step.targets[member_id]))
    return replace(old, member_id=member_id, epoch=0, previous_epoch=0)


def _hash(known: dict[str, TopicInfo]) -> int:
    """Another number where any topic has changed; no meaning beyond that."""
    digest = hashlib.blake2b(repr(sorted(known.items())).encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
