"""A member of a consumer group (KIP-848): what its heartbeats say, and what the answers mean. Pure.

The coordinator tells a member what it may own; the member lets go of what it may not, takes what
is new, and says so in its next heartbeat. A heartbeat says only what changed since the last one
that was answered.

Not here: sending heartbeats, committing before partitions are given up (group.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from snakka.protocol.types import Uuid

JOINING: Final = 0
LEAVING: Final = -1
LEAVING_STATIC: Final = -2

FENCED: Final = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID})

Owned = frozenset[tuple[Uuid, int]]
NOTHING: Final[Owned] = frozenset()


@dataclass(frozen=True, slots=True)
class Subscription:
    """Topics by name, or by a regular expression that the broker evaluates (RE2)."""

    topics: tuple[str, ...] = ()
    regex: str | None = None


@dataclass(frozen=True, slots=True)
class MemberSettings:
    group_id: str
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    assignor: str | None


class Membership:
    """One member, from its joining until it leaves."""

    def __init__(self, settings: MemberSettings, subscription: Subscription, member_id: str):
        self._settings = settings
        self._subscription = subscription
        self.member_id = member_id
        self.epoch = JOINING
        self.heartbeat_interval_ms = 0
        self.target: Owned = NOTHING
        self.owned: Owned = NOTHING
        self._told_owned: Owned | None = None
        self._must_tell_all = True

    @property
    def is_joined(self) -> bool:
        return self.epoch > JOINING

    @property
    def has_news(self) -> bool:
        """Whether the next heartbeat is due at once."""
        return not self.is_joined or self._told_owned != self.owned

    @property
    def must_reconcile(self) -> bool:
        """Whether it may own something else than it does."""
        return self.is_joined and self.target != self.owned

    def heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        """The next heartbeat, which counts as told once it is answered."""
        settings = self._settings
        tells_all = self._must_tell_all or not self.is_joined
        tells_owned = tells_all or self._told_owned != self.owned
        self._telling = self.owned
        return ConsumerGroupHeartbeatRequest(
            group_id=settings.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=settings.instance_id,
            rack_id=settings.rack_id if tells_all else None,
            rebalance_timeout_ms=settings.rebalance_timeout_ms if tells_all else -1,
            subscribed_topic_names=self._names() if tells_all else None,
            subscribed_topic_regex=self._subscription.regex if tells_all else None,
            server_assignor=settings.assignor if tells_all else None,
            topic_partitions=_grouped(self.owned) if tells_owned else None,
        )

    def leave(self) -> ConsumerGroupHeartbeatRequest:
        """The last heartbeat; a static member's place is kept for it."""
        epoch = LEAVING if self._settings.instance_id is None else LEAVING_STATIC
        return ConsumerGroupHeartbeatRequest(
            group_id=self._settings.group_id,
            member_id=self.member_id,
            member_epoch=epoch,
            instance_id=self._settings.instance_id,
        )

    def answered(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        """Takes the answer to the last heartbeat."""
        self.member_id = answer.member_id or self.member_id
        self.epoch = answer.member_epoch
        self.heartbeat_interval_ms = answer.heartbeat_interval_ms
        self._told_owned = self._telling
        self._must_tell_all = False
        if answer.assignment is not None:
            self.target = frozenset(
                (topic.topic_id, index)
                for topic in answer.assignment.topic_partitions
                for index in topic.partitions
            )

    def unanswered(self) -> None:
        """It is not known what the coordinator has heard: it is told everything again."""
        self._must_tell_all = True

    def fenced(self) -> None:
        """The coordinator has given its partitions to others: it joins anew, with nothing."""
        self.epoch = JOINING
        self.target = self.owned = NOTHING
        self._told_owned = None
        self._must_tell_all = True

    def take(self, owned: Owned) -> None:
        """What it owns from now on."""
        self.owned = owned

    def _names(self) -> list[str] | None:
        if self._subscription.regex is not None and not self._subscription.topics:
            return None
        return list(self._subscription.topics)


def _grouped(partitions: Iterable[tuple[Uuid, int]]) -> list[TopicPartitions]:
    by_topic: dict[Uuid, list[int]] = {}
    for topic_id, index in sorted(partitions):
        by_topic.setdefault(topic_id, []).append(index)
    return [
        TopicPartitions(topic_id=topic_id, partitions=indexes)
        for topic_id, indexes in by_topic.items()
    ]
