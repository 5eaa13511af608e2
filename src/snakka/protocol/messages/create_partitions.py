"""CreatePartitions (key 37): grow topics."""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int16, Int32


class CreatePartitionsAssignment(Struct):
    broker_ids: list[Int32]


class CreatePartitionsTopic(Struct):
    name: str
    count: Int32
    assignments: list[CreatePartitionsAssignment] | None


class CreatePartitionsRequest(
    Request, key=37, versions="0-3", flexible="2+", listeners=Listeners.BOTH
):
    topics: list[CreatePartitionsTopic]
    timeout_ms: Int32
    validate_only: bool


class CreatePartitionsTopicResult(Struct):
    name: str
    error_code: Int16
    error_message: str | None = None


class CreatePartitionsResponse(Response, key=37, versions="0-3", flexible="2+"):
    throttle_time_ms: Int32
    results: list[CreatePartitionsTopicResult]
