"""Records of `__consumer_offsets` that hold committed offsets, for groups of all types."""

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import field
from snakka.protocol.types import Int32, Int64, Uuid


class LegacyOffsetCommitKey(CoordinatorKey, key=0, versions="0"):
    group: str
    topic: str
    partition: Int32


class LegacyOffsetCommitValue(CoordinatorValue, key=0, versions="0"):
    offset: Int64
    metadata: str
    commit_timestamp: Int64


class OffsetCommitKey(CoordinatorKey, key=1, versions="0"):
    group: str
    topic: str
    partition: Int32


class OffsetCommitValue(CoordinatorValue, key=1, versions="0-4", flexible="4+"):
    offset: Int64
    leader_epoch: Int32 = field("3+", default=-1, ignorable=True)
    metadata: str
    commit_timestamp: Int64
    expire_timestamp: Int64 = field("1", default=-1, ignorable=True)
    topic_id: Uuid = field("4+", tag=0, ignorable=True)
