"""Records of `__transaction_state`: one per transactional id (KIP-98, KIP-890)."""

from snakka.protocol.internal.kinds import CoordinatorKey, CoordinatorValue
from snakka.protocol.schema import Struct, field
from snakka.protocol.types import Int8, Int16, Int32, Int64


class TransactionLogKey(CoordinatorKey, key=0, versions="0"):
    transactional_id: str


class PartitionsSchema(Struct):
    topic: str
    partition_ids: list[Int32]


class TransactionLogValue(CoordinatorValue, key=0, versions="0-1", flexible="1+"):
    producer_id: Int64
    previous_producer_id: Int64 = field("1+", default=-1, tag=0)
    next_producer_id: Int64 = field("1+", default=-1, tag=1)
    producer_epoch: Int16
    next_producer_epoch: Int16 = field("1+", default=-1, tag=3)
    transaction_timeout_ms: Int32
    transaction_status: Int8
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
    client_transaction_version: Int16 = field("1+", default=0, tag=2)
