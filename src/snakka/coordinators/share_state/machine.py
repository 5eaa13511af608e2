"""All share partitions of one partition of `__share_group_state`.

A write is a record of what it changes; after so many of them, and where none has come for long,
everything is written anew as a snapshot. What lies before the oldest partition's latest snapshot
is redundant then, which is how the log is kept short: it is not compacted.

Not here: deleting what is redundant (node/share_pruning.py), finding them (share_states.py).
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from snakka.coordinators.decision import Decision, NewRecord, WrittenRecord
from snakka.coordinators.share_state.batches import UNKNOWN_OFFSET, combine
from snakka.coordinators.share_state.refusals import (
    NEGATIVE_PARTITION,
    READ_UNINITIALIZED,
    WRITE_UNINITIALIZED,
    ShareStateError,
)
from snakka.coordinators.share_state.state import (
    NO_EPOCH,
    UNKNOWN_COUNT,
    SharePartition,
    ShareState,
    delivery_batches,
    snapshot,
    state_of,
    tombstone,
    update,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.share_state import (
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
)
from snakka.protocol.messages import initialize_share_group_state, write_share_group_state
from snakka.protocol.types import Uuid

_FIRST_LEADER_EPOCH: Final = 0

HasPartition: TypeAlias = Callable[[Uuid, int], bool]


@dataclass(frozen=True, slots=True)
class ShareStateSettings:
    updates_per_snapshot: int
    cold_snapshot_interval_ms: int


@dataclass(slots=True)
class _Kept:
    """A share partition's state, the epochs that fence, and what lies in the log of it."""

    state: ShareState
    leader_epoch: int
    state_epoch: int
    snapshot_offset: int
    update_count: int = 0


class ShareStateMachine:
    """Commands decide; replay() alone changes hard state."""

    def __init__(self, settings: ShareStateSettings, has_partition: HasPartition) -> None:
        self._settings = settings
        self._has_partition = has_partition  # whether there is such a partition of a topic
        self._kept: dict[SharePartition, _Kept] = {}  # hard
        self._end_offset = 0  # hard
        self._next_cold_ms: int | None = None  # soft

    def initialize(
        self,
        where: SharePartition,
        asked: initialize_share_group_state.PartitionData,
        now_ms: int,
    ) -> Decision[None]:
        """Begins anew, whatever was there, unless that is of a later epoch."""
        _check_index(where)
        kept = self._kept.get(where)
        if kept is not None and NO_EPOCH != asked.state_epoch < kept.state_epoch:
            raise ShareStateError(ErrorCode.FENCED_STATE_EPOCH)
        self._check_exists(where)
        has_start = asked.start_offset != UNKNOWN_OFFSET
        begun = ShareState(
            snapshot_epoch=0 if kept is None else kept.state.snapshot_epoch + 1,
            state_epoch=asked.state_epoch,
            leader_epoch=_FIRST_LEADER_EPOCH,
            start_offset=asked.start_offset,
            delivery_complete_count=0 if has_start else UNKNOWN_COUNT,
            batches=(),
            create_timestamp=now_ms,
            write_timestamp=now_ms,
        )
        return Decision(None, (snapshot(where, begun),))

    def write(
        self, where: SharePartition, asked: write_share_group_state.PartitionData, now_ms: int
    ) -> Decision[None]:
        kept = self._get(where, asked.leader_epoch, WRITE_UNINITIALIZED)
        if NO_EPOCH != asked.state_epoch < kept.state_epoch:
            raise ShareStateError(ErrorCode.FENCED_STATE_EPOCH)
        self._check_exists(where)
        return Decision(None, (self._record(where, kept, kept.state.leader_epoch, asked, now_ms),))

    def read(self, where: SharePartition, leader_epoch: int, now_ms: int) -> Decision[ShareState]:
        """A leader that reads fences those before it."""
        kept = self._get(where, leader_epoch, READ_UNINITIALIZED)
        self._check_exists(where)
        state = kept.state
        if leader_epoch in (NO_EPOCH, kept.leader_epoch):
            return Decision(state)
        unchanged = write_share_group_state.PartitionData(
            partition=where.partition,
            state_epoch=state.state_epoch,
            leader_epoch=leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=state.delivery_complete_count,
            state_batches=[],
        )
        return Decision(state, (self._record(where, kept, leader_epoch, unchanged, now_ms),))

    def summarize(self, where: SharePartition) -> Decision[ShareState | None]:
        """None where nothing was begun."""
        _check_index(where)
        self._check_exists(where)
        kept = self._kept.get(where)
        return Decision(None if kept is None else kept.state)

    def delete(self, where: SharePartition) -> Decision[None]:
        _check_index(where)
        self._check_exists(where)
        return Decision(None, (tombstone(where),) if where in self._kept else ())

    def forget_topics(self, topic_ids: AbstractSet[Uuid]) -> Decision[None]:
        """The topics are deleted."""
        gone = [tombstone(each) for each in self._kept if each.topic_id in topic_ids]
        return Decision(None, tuple(gone))

    def find_redundant_offset(self) -> int:
        """What lies before it is in later records, too."""
        offsets = (each.snapshot_offset for each in self._kept.values())
        return min(offsets, default=self._end_offset)

    def replay(self, record: WrittenRecord) -> None:
        self._end_offset = record.offset + 1
        match record.key, record.value:
            case ShareSnapshotKey() as key, ShareSnapshotValue() as value:
                self._replay_snapshot(_where(key), state_of(value), record.offset)
            case ShareSnapshotKey() as key, None:
                self._kept.pop(_where(key), None)
            case ShareUpdateKey() as key, ShareUpdateValue() as value:
                kept = self._kept.get(_where(key))
                if kept is not None:  # else its snapshot is gone, and a tombstone follows
                    kept.state = kept.state.updated(value)
                    kept.leader_epoch = max(kept.leader_epoch, value.leader_epoch)
                    kept.update_count += 1

    def replay_end_transaction(self, producer_id: int, is_committed: bool) -> None:
        """Nothing here is written in transactions."""

    def on_loaded(self, now_ms: int) -> Decision[None]:
        self._next_cold_ms = now_ms + self._settings.cold_snapshot_interval_ms
        return Decision(None)

    def next_deadline_ms(self) -> int | None:
        return self._next_cold_ms

    def expire(self, now_ms: int) -> Decision[None]:
        if self._next_cold_ms is None or now_ms < self._next_cold_ms:
            return Decision(None)
        interval_ms = self._settings.cold_snapshot_interval_ms
        self._next_cold_ms = now_ms + interval_ms
        if all(each.state.is_cold for each in self._kept.values()):
            return Decision(None)
        return Decision(
            None,
            tuple(
                snapshot(where, _again(kept.state, now_ms))
                for where, kept in self._kept.items()
                if now_ms - kept.state.write_timestamp >= interval_ms
            ),
        )

    def _replay_snapshot(self, where: SharePartition, state: ShareState, offset: int) -> None:
        kept = self._kept.get(where)
        if kept is None:
            self._kept[where] = _Kept(state, state.leader_epoch, state.state_epoch, offset)
            return
        kept.state, kept.snapshot_offset, kept.update_count = state, offset, 0
        kept.leader_epoch = max(kept.leader_epoch, state.leader_epoch)
        kept.state_epoch = max(kept.state_epoch, state.state_epoch)

    def _record(
        self,
        where: SharePartition,
        kept: _Kept,
        leader_epoch: int,
        asked: write_share_group_state.PartitionData,
        now_ms: int,
    ) -> NewRecord:
        state, batches = kept.state, delivery_batches(asked.state_batches)
        if kept.update_count < self._settings.updates_per_snapshot:
            return update(
                where,
                state,
                leader_epoch=leader_epoch,
                start_offset=asked.start_offset,
                delivery_complete_count=asked.delivery_complete_count,
                batches=batches,
            )
        start_offset = state.start_from(asked.start_offset)
        whole = replace(
            _again(state, now_ms),
            leader_epoch=leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=asked.delivery_complete_count,
            batches=combine((*state.batches, *batches), start_offset),
            create_timestamp=now_ms,
        )
        return snapshot(where, whole)

    def _get(self, where: SharePartition, leader_epoch: int, otherwise: str) -> _Kept:
        _check_index(where)
        kept = self._kept.get(where)
        if kept is None:
            raise ShareStateError(ErrorCode.INVALID_REQUEST, otherwise)
        if NO_EPOCH != leader_epoch < kept.leader_epoch:
            raise ShareStateError(ErrorCode.FENCED_LEADER_EPOCH)
        return kept

    def _check_exists(self, where: SharePartition) -> None:
        if not self._has_partition(where.topic_id, where.partition):
            raise ShareStateError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _again(state: ShareState, now_ms: int) -> ShareState:
    return replace(state, snapshot_epoch=state.snapshot_epoch + 1, write_timestamp=now_ms)


def _where(key: ShareSnapshotKey | ShareUpdateKey) -> SharePartition:
    return SharePartition(key.group_id, key.topic_id, key.partition)


def _check_index(where: SharePartition) -> None:
    if where.partition < 0:
        raise ShareStateError(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)
