"""A partition as the metadata log has it: replicas, who of them is in sync, and who leads.

Not here: who ought to lead (controller/elections.py), what a replica does (replication/).
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from snakka.metadata.directories import MIGRATING
from snakka.protocol.internal.metadata import PartitionChangeRecord, PartitionRecord
from snakka.protocol.types import Uuid

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2
NO_RECOVERY_CHANGE: Final = -1


class LeaderRecoveryState(IntEnum):
    """Whether a leader elected uncleanly still has to make its log consistent (KIP-704)."""

    RECOVERED = 0
    RECOVERING = 1


@dataclass(frozen=True, slots=True)
class Partition:
    """`directories` goes with `replicas`; `elr` may lead although out of the ISR (KIP-966)."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    directories: tuple[Uuid, ...]
    leader_epoch: int = 0
    partition_epoch: int = 0
    leader_recovery_state: int = LeaderRecoveryState.RECOVERED
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @classmethod
    def of(cls, record: PartitionRecord) -> "Partition":
        replicas = tuple(record.replicas)
        return cls(
            replicas,
            tuple(record.isr),
            record.leader,
            tuple(record.directories) or (MIGRATING,) * len(replicas),
            record.leader_epoch,
            record.partition_epoch,
            record.leader_recovery_state,
            tuple(record.adding_replicas),
            tuple(record.removing_replicas),
            tuple(record.eligible_leader_replicas or ()),
            tuple(record.last_known_elr or ()),
        )

    def after(self, change: PartitionChangeRecord) -> "Partition":
        """Every change is a partition epoch; naming a leader, even the same, a leader epoch."""
        is_led_anew = change.leader != NO_LEADER_CHANGE
        recovery = change.leader_recovery_state
        replicas = _changed(change.replicas, self.replicas)
        return Partition(
            replicas=replicas,
            isr=_changed(change.isr, self.isr),
            leader=change.leader if is_led_anew else self.leader,
            directories=self._directories_after(change, len(replicas)),
            leader_epoch=self.leader_epoch + is_led_anew,
            partition_epoch=self.partition_epoch + 1,
            leader_recovery_state=(
                self.leader_recovery_state if recovery == NO_RECOVERY_CHANGE else recovery
            ),
            adding_replicas=_changed(change.adding_replicas, self.adding_replicas),
            removing_replicas=_changed(change.removing_replicas, self.removing_replicas),
            elr=_changed(change.eligible_leader_replicas, self.elr),
            last_known_elr=_changed(change.last_known_elr, self.last_known_elr),
        )

    def _directories_after(self, change: PartitionChangeRecord, count: int) -> tuple[Uuid, ...]:
        if change.directories:
            return tuple(change.directories)
        # A log from before directories had ids moves replicas without saying where to.
        return self.directories if len(self.directories) == count else (MIGRATING,) * count

    def without_elr(self) -> "Partition":
        """Being cleared of eligible replicas is a change, and so a partition epoch."""
        if not self.elr and not self.last_known_elr:
            return self
        return replace(self, elr=(), last_known_elr=(), partition_epoch=self.partition_epoch + 1)

    def record(self, topic_id: Uuid, partition_id: int) -> PartitionRecord:
        return PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=list(self.replicas),
            isr=list(self.isr),
            removing_replicas=list(self.removing_replicas),
            adding_replicas=list(self.adding_replicas),
            leader=self.leader,
            leader_recovery_state=self.leader_recovery_state,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            directories=list(self.directories),
            eligible_leader_replicas=list(self.elr) or None,
            last_known_elr=list(self.last_known_elr) or None,
        )

    def directory(self, broker_id: int) -> Uuid:
        return self.directories[self.replicas.index(broker_id)]

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER

    @property
    def has_preferred_leader(self) -> bool:
        return self.leader == self.replicas[0]

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding_replicas or self.removing_replicas)


def _changed(value: list[int] | None, before: tuple[int, ...]) -> tuple[int, ...]:
    return before if value is None else tuple(value)
