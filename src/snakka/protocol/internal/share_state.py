"""Records of `__share_group_state`: what was delivered of each share partition (KIP-932)."""

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Int8, Int16, Int32, Int64, Uuid


class ShareSnapshotKey(CoordinatorKey, key=0, versions="0"):
    group_id: str
    topic_id: Uuid
    partition: Int32


class StateBatch(Struct):
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


class ShareSnapshotValue(CoordinatorValue, key=0, versions="0", flexible="0+"):
    snapshot_epoch: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(default=-1, tag=0)
    create_timestamp: Int64
    write_timestamp: Int64
    state_batches: list[StateBatch]


class ShareUpdateKey(CoordinatorKey, key=1, versions="0"):
    group_id: str
    topic_id: Uuid
    partition: Int32


class ShareUpdateValue(CoordinatorValue, key=1, versions="0", flexible="0+"):
    snapshot_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(default=-1, tag=0)
    state_batches: list[StateBatch]
