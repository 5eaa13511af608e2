"""AssignReplicasToDirs (key 73): a broker says in which log directories its replicas are.

KIP-858.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int16, Int32, Int64, Uuid


class RequestPartitionData(Struct):
    partition_index: Int32


class RequestTopicData(Struct):
    topic_id: Uuid
    partitions: list[RequestPartitionData]


class RequestDirectoryData(Struct):
    id: Uuid
    topics: list[RequestTopicData]


class AssignReplicasToDirsRequest(
    Request, key=73, versions="0", flexible="0+", listeners=Listeners.CONTROLLER
):
    broker_id: Int32
    broker_epoch: Int64 = -1
    directories: list[RequestDirectoryData]


class ResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16


class ResponseTopicData(Struct):
    topic_id: Uuid
    partitions: list[ResponsePartitionData]


class ResponseDirectoryData(Struct):
    id: Uuid
    topics: list[ResponseTopicData]


class AssignReplicasToDirsResponse(Response, key=73, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    directories: list[ResponseDirectoryData]
