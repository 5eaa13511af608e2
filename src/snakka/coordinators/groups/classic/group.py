"""One classic group: its generation, its members, and where its rebalance stands.

    Empty -> PreparingRebalance -> CompletingRebalance -> Stable
      ^              |    ^                |                |
      +--------------+    +----------------+----------------+

A generation is stored when its leader has assigned the work, so that is what survives a failover:
replay sets it. A rebalance lives in this leader's memory only; its members join again elsewhere.

Not here: what moves a group on (rebalancing.py and the commands beside it).
"""

from enum import StrEnum
from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.classic.members import Members
from snakka.protocol.codec import decoder
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError
from snakka.protocol.internal.consumer_protocol import ConsumerProtocolSubscription

CONSUMER_PROTOCOL_TYPE: Final = "consumer"

_VERSION_BYTES: Final = 2
_read_subscription = decoder(ConsumerProtocolSubscription, 0)


class State(StrEnum):
    """Where a group is, as clients are told. A group that is not there is Dead."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class ClassicGroup:
    """A group that the classic protocol manages, or that only keeps offsets."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        # Hard as of the last stored generation; a rebalance works on the same fields.
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members = Members()
        self.state_changed_at_ms: int | None = None
        self.is_stored = False
        # Soft.
        self.state = State.EMPTY
        self.pending_joins: set[str] = set()  # ids given out that have not joined yet (KIP-394)
        self.pending_syncs: set[str] = set()  # members of this generation that have not synced yet
        self.is_initial_rebalance = False
        self.has_new_member = False
        self.initial_rebalance_end_ms = 0
        self.subscribed_topics: frozenset[str] | None = None  # None where it cannot be known

    @property
    def has_all_joined(self) -> bool:
        return len(self.members) == self.members.joined_count and not self.pending_joins

    @property
    def is_unused(self) -> bool:
        """Whether it only keeps offsets, and nobody is about to join."""
        return self.state is State.EMPTY and not self.pending_joins

    @property
    def is_consumer(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def transition(self, state: State, now_ms: int) -> None:
        self.state = state
        self.state_changed_at_ms = now_ms

    def supports(self, protocol_type: str, names: list[str]) -> bool:
        """Whether a member of these protocols can join."""
        if self.state is State.EMPTY:
            return bool(protocol_type and names)
        return self.protocol_type == protocol_type and self.members.support_any(names)

    def remove(self, member_id: str) -> None:
        """A member or the id of one goes; somebody else leads if it led."""
        self.members.remove(member_id)
        self.pending_joins.discard(member_id)
        self.pending_syncs.discard(member_id)
        if self.leader == member_id:
            self.leader = next((each.member_id for each in self.members), None)

    def elect_joined_leader(self) -> bool:
        """Makes sure that the leader has joined; False where nobody has."""
        leader = self.members.find(self.leader or "")
        if leader is not None and leader.join_token is not None:
            return True
        joined = next((each for each in self.members if each.join_token is not None), None)
        if joined is None:
            return False
        self.leader = joined.member_id
        return True

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        """Raises where this is not a member, or no longer the one that its instance is."""
        if instance_id is not None:
            current_id = self.members.find_static_id(instance_id)
            if current_id is None:
                raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
            if current_id != member_id:
                raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)

    def check_commit(
        self, member_id: str, instance_id: str | None, generation: int, *, in_transaction: bool
    ) -> None:
        """Raises where this member may not commit offsets now.

        Without a generation the commit comes from a tool or a consumer that assigns its own work,
        which is fine as long as nobody else does.
        """
        is_empty = self.state is State.EMPTY
        if generation < 0 and is_empty:
            return
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            if generation != self.generation:
                raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
        elif not in_transaction and not is_empty:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not in_transaction and self.state is State.COMPLETING_REBALANCE:
            raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)

    def is_subscribed(self, topic: str) -> bool:
        """Whether a member consumes the topic, or might."""
        if self.state is State.EMPTY:
            return False
        if self.subscribed_topics is None:
            return self.is_consumer
        return topic in self.subscribed_topics

    def note_subscriptions(self) -> None:
        """Reads what members subscribe to, where they are consumers."""
        self.subscribed_topics = self._read_subscriptions() if self.is_consumer else None

    def _read_subscriptions(self) -> frozenset[str] | None:
        topics: set[str] = set()
        for member in self.members:
            metadata = member.metadata(self.protocol)
            try:
                # Later versions only append to the first one.
                topics.update(_read_subscription(metadata, _VERSION_BYTES)[0].topics)
            except MalformedError:
                return None
        return frozenset(topics)
