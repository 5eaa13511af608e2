"""One consumer group: what its members want and have, and what they are to have.

All of it is hard. A partition has one holder at a time, who has it or has not yet given it up.
"""

from enum import StrEnum

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.consumer.member import (
    NO_PARTITIONS,
    Expression,
    Member,
    Partition,
    Partitions,
)
from snakka.protocol.error_codes import ErrorCode


class ConsumerState(StrEnum):
    """Where a consumer group is, as clients are told."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class ConsumerGroup:
    """A group of the consumer protocol."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = 0
        self.metadata_hash = 0
        self.assignment_epoch = 0
        self.members: dict[str, Member] = {}
        self.targets: dict[str, Partitions] = {}
        self.expressions: dict[str, Expression] = {}
        self._ids_by_instance: dict[str, str] = {}
        self._holders: dict[Partition, str] = {}

    @property
    def state(self) -> ConsumerState:
        if not self.members:
            return ConsumerState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerState.ASSIGNING
        if all(each.is_reconciled_to(self.assignment_epoch) for each in self.members.values()):
            return ConsumerState.STABLE
        return ConsumerState.RECONCILING

    @property
    def is_unused(self) -> bool:
        return not self.members

    @property
    def is_all_classic(self) -> bool:
        return all(each.classic is not None for each in self.members.values())

    def put(self, member: Member) -> None:
        self.remove(member.member_id)
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self._ids_by_instance[member.instance_id] = member.member_id
        for partition in member.assigned | member.revoking:
            self._holders[partition] = member.member_id

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is None:
            return
        if self._ids_by_instance.get(member.instance_id or "") == member_id:
            del self._ids_by_instance[member.instance_id or ""]
        for partition in member.assigned | member.revoking:
            if self._holders.get(partition) == member_id:
                del self._holders[partition]

    def find_static(self, instance_id: str) -> Member | None:
        member_id = self._ids_by_instance.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def is_held(self, partition: Partition) -> bool:
        return partition in self._holders

    def target(self, member_id: str) -> Partitions:
        return self.targets.get(member_id, NO_PARTITIONS)

    def is_subscribed(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.members.values()) or any(
            topic in each.topics for each in self.expressions.values()
        )

    def check_commit(
        self, member_id: str, member_epoch: int, *, in_transaction: bool, api_version: int
    ) -> None:
        """Raises where this member may not commit offsets in that epoch."""
        if member_epoch < 0 and not self.members:
            return
        if member_id not in self.members:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        is_classic = self.members[member_id].classic is not None
        if not in_transaction and not is_classic and api_version < 9:
            raise CoordinatorError(ErrorCode.UNSUPPORTED_VERSION)
        self._check_epoch(member_id, member_epoch)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raises where a member asks that is none, or was one in another epoch."""
        if member_id is None and member_epoch < 0:
            return
        if member_id is None or member_id not in self.members:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        self._check_epoch(member_id, member_epoch)

    def _check_epoch(self, member_id: str, member_epoch: int) -> None:
        member = self.members[member_id]
        if member_epoch != member.epoch:
            is_classic = member.classic is not None
            raise CoordinatorError(
                ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH
            )
