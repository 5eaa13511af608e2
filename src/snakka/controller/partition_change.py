"""How a partition changes: its target in, the one record that leads there out.

The order is what makes it right: a reassignment that is done is wound up, then who is eligible to
lead is worked out from the ISR, then a leader is elected, then the record is made of what differs.
KIP-455 reassignment, KIP-704 leader recovery, KIP-966 eligible leader replicas.

Not here: why a partition changes (the other modules), what a record does to it
(metadata/partition.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from snakka.metadata.partition import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    LeaderRecoveryState,
    Partition,
)
from snakka.metadata.versions import MetadataVersion
from snakka.protocol.internal.metadata import PartitionChangeRecord
from snakka.protocol.types import Uuid

Replicas: TypeAlias = tuple[int, ...]


class Election(Enum):
    """Which leader is wanted: the first replica, any eligible one, or as a last resort any."""

    PREFERRED = auto()
    ONLINE = auto()
    UNCLEAN = auto()


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for a partition, apart from what it is to become."""

    can_lead: Callable[[int], bool]
    default_dir: Callable[[int], Uuid]
    metadata_version: MetadataVersion
    min_isr: int
    has_elr: bool


@dataclass(slots=True)
class _Elected:
    leader: int
    is_unclean: bool = False


@dataclass(slots=True)
class PartitionChange:
    """What a partition is to become; what is not given stays."""

    topic_id: Uuid
    partition_id: int
    partition: Partition
    rules: Rules
    election: Election = Election.ONLINE
    isr: Sequence[int] | None = None
    replicas: Sequence[int] | None = None
    adding: Sequence[int] | None = None
    removing: Sequence[int] | None = None
    leader_recovery_state: int | None = None
    unclean_shutdown: Sequence[int] = ()  # replicas that may have lost what they acknowledged
    directories: dict[int, Uuid] = field(default_factory=dict)
    _elr: Replicas = field(init=False, default=())

    def record(self) -> PartitionChangeRecord | None:
        """None when nothing changes."""
        before = self.partition
        isr, replicas, adding, removing = _wound_up(
            _given(self.isr, before.isr),
            _given(self.replicas, before.replicas),
            _given(self.adding, before.adding_replicas),
            _given(self.removing, before.removing_replicas),
        )
        self._elr = self._elr_after(isr, replicas)
        elected = self._elect(isr, replicas)
        is_new = elected.leader != before.leader
        if is_new and elected.leader in self._elr:
            self._elr = tuple(each for each in self._elr if each != elected.leader)
            isr = (elected.leader,)
        if is_new and elected.is_unclean:
            # What is not on the new leader is lost: nobody else is in sync with it.
            isr, self._elr = (elected.leader,), ()
        return self._difference(isr, replicas, adding, removing, elected, is_new)

    def _elr_after(self, isr: Replicas, replicas: Replicas) -> Replicas:
        """Who fell out of an ISR below `min.insync.replicas` still has all that is committed."""
        if not self.rules.has_elr or len(isr) >= self.rules.min_isr:
            return ()
        candidates = {*self.partition.elr, *self.partition.isr}
        excluded = {*isr, *self.unclean_shutdown}
        found = (each for each in candidates if each in replicas and each not in excluded)
        return tuple(sorted(found))

    def _elect(self, isr: Replicas, replicas: Replicas) -> _Elected:
        def is_eligible(replica: int) -> bool:
            in_sync = replica in isr or (not isr and replica in self._elr)
            return in_sync and self.rules.can_lead(replica)

        current = self.partition.leader
        if self.election is Election.PREFERRED and is_eligible(replicas[0]):
            return _Elected(replicas[0])
        if is_eligible(current):
            return _Elected(current)
        online = next((each for each in replicas if is_eligible(each)), None)
        if online is not None:
            return _Elected(online)
        return self._elect_last_resort(isr, replicas)

    def _elect_last_resort(self, isr: Replicas, replicas: Replicas) -> _Elected:
        last_known = self.partition.last_known_elr
        if self.rules.has_elr and not self._elr and not isr and len(last_known) == 1:
            (last_leader,) = last_known
            if last_leader in replicas and self.rules.can_lead(last_leader):
                return _Elected(last_leader, is_unclean=True)
        if self.election is Election.UNCLEAN:
            alive = next((each for each in replicas if self.rules.can_lead(each)), None)
            if alive is not None:
                return _Elected(alive, is_unclean=True)
        return _Elected(NO_LEADER)

    def _difference(
        self,
        isr: Replicas,
        replicas: Replicas,
        adding: Replicas,
        removing: Replicas,
        elected: _Elected,
        is_new: bool,
    ) -> PartitionChangeRecord | None:
        before = self.partition
        # Without ELR an ISR is never empty: the last replica stays, to say who must come back.
        if not isr and not self.rules.has_elr:
            isr = before.isr
        needs_epoch = is_new or self._needs_leader_epoch(isr, replicas)
        leader = NO_LEADER_CHANGE
        if needs_epoch:
            leader = elected.leader if is_new else before.leader
        record = PartitionChangeRecord(
            topic_id=self.topic_id,
            partition_id=self.partition_id,
            isr=list(isr) if is_new and elected.is_unclean else _if_changed(isr, before.isr),
            leader=leader,
            replicas=_if_changed(replicas, before.replicas),
            adding_replicas=_if_changed(adding, before.adding_replicas),
            removing_replicas=_if_changed(removing, before.removing_replicas),
            leader_recovery_state=self._recovery(is_new and elected.is_unclean),
            directories=self._directories(replicas),
            eligible_leader_replicas=_if_changed(self._elr, before.elr),
            last_known_elr=self._last_known(leader),
        )
        return None if record == self._nothing() else record

    def _needs_leader_epoch(self, isr: Replicas, replicas: Replicas) -> bool:
        """A replica that goes away must not fetch on; old logs say so of the ISR as well."""
        if not set(self.partition.replicas) <= set(replicas):
            return True
        shrinks = not set(self.partition.isr) <= set(isr)
        return shrinks and self.rules.metadata_version.bumps_leader_epoch_on_isr_shrink

    def _recovery(self, is_unclean: bool) -> int:
        target = self.leader_recovery_state
        if target is None:
            target = self.partition.leader_recovery_state
        if is_unclean:
            target = LeaderRecoveryState.RECOVERING
        return NO_RECOVERY_CHANGE if target == self.partition.leader_recovery_state else target

    def _directories(self, replicas: Replicas) -> list[Uuid] | None:
        if not self.rules.metadata_version.has_directories:
            return None
        known = dict(zip(self.partition.replicas, self.partition.directories, strict=True))
        known |= self.directories
        target = [
            known[each] if each in known else self.rules.default_dir(each) for each in replicas
        ]
        return None if tuple(target) == self.partition.directories else target

    def _last_known(self, leader: int) -> list[int] | None:
        """The leader before there was none, until there is one again."""
        before = self.partition
        if not self.rules.has_elr:
            return None
        if before.last_known_elr:
            return None if leader in (NO_LEADER, NO_LEADER_CHANGE) else []
        return [before.leader] if leader == NO_LEADER and before.has_leader else None

    def _nothing(self) -> PartitionChangeRecord:
        return PartitionChangeRecord(topic_id=self.topic_id, partition_id=self.partition_id)


def _wound_up(
    isr: Replicas, replicas: Replicas, adding: Replicas, removing: Replicas
) -> tuple[Replicas, Replicas, Replicas, Replicas]:
    """A reassignment is done once all new replicas are in sync.

    Where there are to be fewer than before, all that stay have to be: none of them may be missed.
    """
    staying = tuple(each for each in replicas if each not in removing)
    in_sync = tuple(each for each in isr if each not in removing)
    awaited = staying if len(adding) < len(removing) else adding
    is_done = set(awaited) <= set(in_sync) and ((staying and in_sync) or not removing)
    if not (adding or removing) or not is_done:
        return isr, replicas, adding, removing
    return in_sync, staying, (), ()


def _if_changed(target: Replicas, before: Replicas) -> list[int] | None:
    return None if target == before else list(target)


def _given(target: Sequence[int] | None, before: Replicas) -> Replicas:
    return before if target is None else tuple(target)
