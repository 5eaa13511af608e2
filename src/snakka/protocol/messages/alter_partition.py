"""AlterPartition (key 56): a partition leader proposes its in-sync replicas.

KIP-497, KIP-903 broker epochs (v3).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int8, Int16, Int32, Int64, Uuid


class BrokerState(Struct):
    broker_id: Int32
    broker_epoch: Int64 = -1


class RequestPartitionData(Struct):
    partition_index: Int32
    leader_epoch: Int32
    new_isr: list[Int32] = field("2")
    new_isr_with_epochs: list[BrokerState] = field("3+")
    leader_recovery_state: Int8 = 0
    partition_epoch: Int32


class RequestTopicData(Struct):
    topic_id: Uuid
    partitions: list[RequestPartitionData]


class AlterPartitionRequest(
    Request, key=56, versions="2-3", flexible="0+", listeners=Listeners.CONTROLLER
):
    broker_id: Int32
    broker_epoch: Int64 = -1
    topics: list[RequestTopicData]


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    isr: list[Int32]
    leader_recovery_state: Int8 = 0
    partition_epoch: Int32


class ResponseTopicData(Struct):
    topic_id: Uuid
    partitions: list[ResponsePartitionData]


class AlterPartitionResponse(Response, key=56, versions="2-3", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[ResponseTopicData]
