"""What is kept of one share partition, and how that is written: as a snapshot, or what changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

from snakka.coordinators.decision import NewRecord
from snakka.coordinators.share_state.batches import UNKNOWN_OFFSET, DeliveryBatch, combine
from snakka.protocol.internal import share_state as records
from snakka.protocol.types import Uuid, format_uuid, parse_uuid

UNKNOWN_COUNT: Final = -1
NO_EPOCH: Final = -1  # of a request that is not to be fenced by it


class SharePartition(NamedTuple):
    """A partition as a share group reads it."""

    group_id: str
    topic_id: Uuid
    partition: int

    def __str__(self) -> str:
        """The key that its coordinator is found by."""
        return f"{self.group_id}:{format_uuid(self.topic_id)}:{self.partition}"


def find_share_partition(key: str) -> SharePartition | None:
    """What the text of one says."""
    parts = key.split(":")
    if len(parts) != 3 or not parts[0].strip():
        return None
    try:
        return SharePartition(parts[0], parse_uuid(parts[1]), int(parts[2]))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class ShareState:
    """`snapshot_epoch` counts snapshots, `state_epoch` how often the group has begun anew."""

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[DeliveryBatch, ...]
    create_timestamp: int
    write_timestamp: int

    @property
    def is_cold(self) -> bool:
        """Whether the last snapshot was made because nothing was written for long."""
        return self.write_timestamp != self.create_timestamp

    def start_from(self, start_offset: int) -> int:
        return self.start_offset if start_offset == UNKNOWN_OFFSET else start_offset

    def updated(self, value: records.ShareUpdateValue) -> "ShareState":
        start_offset = self.start_from(value.start_offset)
        known = (*self.batches, *delivery_batches(value.state_batches))
        return replace(
            self,
            leader_epoch=self.leader_epoch if value.leader_epoch < 0 else value.leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=value.delivery_complete_count,
            batches=combine(known, start_offset),
        )


def state_of(value: records.ShareSnapshotValue) -> ShareState:
    return ShareState(
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        tuple(delivery_batches(value.state_batches)),
        value.create_timestamp,
        value.write_timestamp,
    )


def snapshot(where: SharePartition, state: ShareState) -> NewRecord:
    value = records.ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.delivery_complete_count,
        create_timestamp=state.create_timestamp,
        write_timestamp=state.write_timestamp,
        state_batches=_written(state.batches),
    )
    return NewRecord(_snapshot_key(where), value)


def tombstone(where: SharePartition) -> NewRecord:
    return NewRecord(_snapshot_key(where))


def update(
    where: SharePartition,
    before: ShareState,
    *,
    leader_epoch: int,
    start_offset: int,
    delivery_complete_count: int,
    batches: Sequence[DeliveryBatch],
) -> NewRecord:
    value = records.ShareUpdateValue(
        snapshot_epoch=before.snapshot_epoch,
        leader_epoch=leader_epoch,
        start_offset=start_offset,
        delivery_complete_count=delivery_complete_count,
        state_batches=_written(combine(batches, start_offset)),
    )
    key = records.ShareUpdateKey(
        group_id=where.group_id, topic_id=where.topic_id, partition=where.partition
    )
    return NewRecord(key, value)


class _StateBatch(Protocol):
    """As requests, answers and records have it alike."""

    @property
    def first_offset(self) -> int: ...

    @property
    def last_offset(self) -> int: ...

    @property
    def delivery_state(self) -> int: ...

    @property
    def delivery_count(self) -> int: ...


def delivery_batches(batches: Sequence[_StateBatch]) -> list[DeliveryBatch]:
    return [
        DeliveryBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in batches
    ]


def _written(batches: Sequence[DeliveryBatch]) -> list[records.StateBatch]:
    return [records.StateBatch(**each._asdict()) for each in batches]


def _snapshot_key(where: SharePartition) -> records.ShareSnapshotKey:
    return records.ShareSnapshotKey(
        group_id=where.group_id, topic_id=where.topic_id, partition=where.partition
    )
