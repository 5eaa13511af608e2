"""ListPartitionReassignments (key 46): the moves under way.

KIP-455.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int16, Int32


class ListPartitionReassignmentsTopics(Struct):
    name: str
    partition_indexes: list[Int32]


class ListPartitionReassignmentsRequest(
    Request, key=46, versions="0", flexible="0+", listeners=Listeners.BOTH
):
    timeout_ms: Int32 = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = None


class OngoingPartitionReassignment(Struct):
    partition_index: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32]
    removing_replicas: list[Int32]


class OngoingTopicReassignment(Struct):
    name: str
    partitions: list[OngoingPartitionReassignment]


class ListPartitionReassignmentsResponse(Response, key=46, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    topics: list[OngoingTopicReassignment]
