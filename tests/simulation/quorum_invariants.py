"""What must hold in a quorum after every event, whatever has happened. Looks, and never touches.

Each check is incremental: it looks at what the event has changed on the node it happened to.
"""

from dataclasses import dataclass, field

from snakka.quorum.election_state import ElectionState
from snakka.quorum.ports import OffsetAndEpoch
from snakka.quorum.voters import ReplicaKey
from tests.simulation.quorum_disk import LogBatch, LogState
from tests.simulation.quorum_node import SimulatedNode, Submit
from tests.simulation.replicated_list import read_values


class InvariantError(AssertionError):
    """A promise of the quorum is broken."""


@dataclass(slots=True)
class _Seen:
    """What was last known of a node."""

    incarnation: int = -1
    election: ElectionState = field(default_factory=ElectionState)
    high_watermark: int = 0
    led_epoch: int = -1
    snapshots: set[OffsetAndEpoch] = field(default_factory=set)


@dataclass(slots=True)
class Committed:
    """A committed batch, and the first epoch whose leader knew that it was."""

    batch: LogBatch
    by_epoch: int
    values: tuple[bytes, ...]


@dataclass(slots=True)
class QuorumInvariants:
    nodes: dict[ReplicaKey, SimulatedNode]
    leaders: dict[int, ReplicaKey] = field(default_factory=dict)
    committed: list[Committed] = field(default_factory=list)
    acknowledged: list[Submit] = field(default_factory=list)
    _by_base: dict[int, Committed] = field(default_factory=dict)
    _known: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    _seen: dict[ReplicaKey, _Seen] = field(default_factory=dict)

    @property
    def committed_end(self) -> int:
        return self.committed[-1].batch.next_offset if self.committed else 0

    @property
    def acknowledged_end(self) -> int:
        """The highest offset that a client knows to be committed."""
        return max((s.where.last_offset for s in self.acknowledged if s.where), default=-1)

    def check(self, node: SimulatedNode) -> None:
        seen = self._seen.setdefault(node.local.key, _Seen())
        if seen.incarnation != node.incarnation:
            seen.incarnation = node.incarnation
            seen.high_watermark = 0
            seen.led_epoch = -1
        if node.replica is not None:
            self._check_election(node, seen)
            self._check_leader(node, seen)
        self._check_log_matching(node)
        if node.replica is None:
            return
        self._check_high_watermark(node, seen)
        self._check_snapshots(node, seen)

    def _check_log_matching(self, node: SimulatedNode) -> None:
        """Batches of one offset and epoch are the same, and so is all before them."""
        log = node.disk.log
        if log.changed_from > log.end.offset:
            return
        state = log.state
        for index in range(len(state.batches) - 1, -1, -1):
            batch = state.batches[index]
            previous_epoch = state.batches[index - 1].epoch if index else state.start.epoch
            identity = (batch.crc, previous_epoch)
            known = self._known.setdefault((batch.base_offset, batch.epoch), identity)
            if known != identity:
                raise InvariantError(f"log matching: two batches {batch.base_offset}@{batch.epoch}")
            if batch.base_offset < log.changed_from:
                break
        log.changed_from = 1 << 62

    def _check_election(self, node: SimulatedNode, seen: _Seen) -> None:
        assert node.replica is not None
        election = node.replica.quorum.election
        if election.epoch < seen.election.epoch:
            raise InvariantError(f"epochs monotonic: {seen.election} to {election}")
        if not election.follows(seen.election):
            raise InvariantError(f"one vote and one leader an epoch: {seen.election} to {election}")
        seen.election = election

    def _check_high_watermark(self, node: SimulatedNode, seen: _Seen) -> None:
        assert node.replica is not None
        high_watermark = node.replica.high_watermark or 0
        if high_watermark < seen.high_watermark:
            raise InvariantError(f"high watermark falls: {seen.high_watermark} to {high_watermark}")
        state = node.disk.log.state
        if high_watermark > state.end.offset:
            raise InvariantError(f"committed entry lost: {high_watermark} is beyond {state.end}")
        if high_watermark == seen.high_watermark:
            return
        # Not by its role: one that is removed resigns in the moment it commits that.
        is_leading = seen.led_epoch == node.replica.epoch
        self._check_committed(
            node, max(seen.high_watermark, state.start.offset), is_leading=is_leading
        )
        seen.high_watermark = high_watermark

    def _check_committed(self, node: SimulatedNode, offset: int, *, is_leading: bool) -> None:
        replica, state = node.replica, node.disk.log.state
        assert replica is not None
        high_watermark = replica.high_watermark or 0
        while offset < high_watermark:
            batch = state.find(offset)
            if batch is None or batch.next_offset > high_watermark:
                raise InvariantError(f"high watermark {high_watermark} is inside of a batch")
            known = self._by_base.get(offset)
            if known is None:
                self._commit(batch, replica.epoch, is_leading=is_leading)
            elif known.batch[:4] != batch[:4]:
                raise InvariantError(f"committed entry lost: {offset}@{known.batch.epoch}")
            offset = batch.next_offset
        if is_leading:
            self._check_majority(node, high_watermark)

    def _commit(self, batch: LogBatch, epoch: int, *, is_leading: bool) -> None:
        if batch.base_offset != self.committed_end:
            raise InvariantError(f"committed entry lost: {self.committed_end}")
        if not is_leading:
            raise InvariantError(f"{batch.base_offset} is committed before its leader knows")
        entry = Committed(batch, epoch, tuple(read_values(batch.data)))
        self.committed.append(entry)
        self._by_base[batch.base_offset] = entry

    def _check_majority(self, node: SimulatedNode, high_watermark: int) -> None:
        """What the leader commits is on a majority of its voters' disks, safe from a crash."""
        assert node.replica is not None
        log = node.disk.log.state
        below = (b for b in reversed(log.batches) if b.next_offset <= high_watermark)
        last = next(below, None)
        if last is None:
            return
        voters = node.replica.voters.voters
        holding = [
            voter
            for voter in voters
            if any(
                voter.is_replica(other.local.key)
                and holds(other.disk.log.durable, other.disk.snapshots.latest(), last)
                for other in self.nodes.values()
            )
        ]
        if 2 * len(holding) <= len(voters):
            raise InvariantError(
                f"high watermark {high_watermark} not on a majority: on {len(holding)} "
                f"of {len(voters)} disks"
            )

    def _check_leader(self, node: SimulatedNode, seen: _Seen) -> None:
        replica = node.replica
        assert replica is not None
        if not replica.is_leader or seen.led_epoch == replica.epoch:
            return
        key = node.local.key
        if self.leaders.setdefault(replica.epoch, key) != key:
            raise InvariantError(
                f"one leader per epoch: {self.leaders[replica.epoch]} and {key} in {replica.epoch}"
            )
        seen.led_epoch = replica.epoch
        for entry in reversed(self.committed):
            if entry.by_epoch < replica.epoch:
                log = node.disk.log
                if not holds(log.state, node.disk.snapshots.latest(), entry.batch):
                    raise InvariantError(
                        f"committed entry lost: the leader of {replica.epoch} lacks "
                        f"{entry.batch.base_offset}@{entry.batch.epoch}"
                    )
                break

    def _check_snapshots(self, node: SimulatedNode, seen: _Seen) -> None:
        assert node.replica is not None
        snapshots = node.disk.snapshots.complete_ones
        for snapshot_id in snapshots.keys() - seen.snapshots:
            if snapshot_id.offset == 0:
                continue
            if snapshot_id.offset > max(node.replica.high_watermark or 0, 0):
                raise InvariantError(f"snapshot {snapshot_id} ahead of the high watermark")
            if read_values(snapshots[snapshot_id]) != self.committed_values(snapshot_id.offset):
                raise InvariantError(f"snapshot {snapshot_id} is not of what is committed")
        seen.snapshots = set(snapshots)

    def acknowledge(self, submit: Submit) -> None:
        """A client has been told that its write is committed."""
        where = submit.where
        assert where is not None
        found = self._by_base.get(where.first_offset)
        if found is None or submit.value not in found.values:
            raise InvariantError(f"linearizable: {submit.value!r} acknowledged, not committed")
        if where.first_offset <= submit.acknowledged_before:
            raise InvariantError(f"linearizable: {submit.value!r} comes before an earlier write")
        self.acknowledged.append(submit)

    def committed_values(self, end_offset: int) -> list[bytes]:
        values: list[bytes] = []
        for entry in self.committed:
            if entry.batch.base_offset >= end_offset:
                break
            values += entry.values
        return values


def holds(log: LogState, snapshot_id: OffsetAndEpoch | None, batch: LogBatch) -> bool:
    """Whether a replica has that very batch, in its log or in its snapshot."""
    if snapshot_id is not None and batch.next_offset <= snapshot_id.offset:
        return True
    found = log.find(batch.base_offset)
    return found is not None and found[:4] == batch[:4]
