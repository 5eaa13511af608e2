"""DeleteShareGroupOffsets (key 92): remove the offsets of an empty share group's topics.

KIP-932.
"""

from snakka.protocol.schema import Request, Response, Struct
from snakka.protocol.types import Int16, Int32, Uuid


class DeleteShareGroupOffsetsRequestTopic(Struct):
    topic_name: str


class DeleteShareGroupOffsetsRequest(Request, key=92, versions="0", flexible="0+"):
    group_id: str
    topics: list[DeleteShareGroupOffsetsRequestTopic]


class DeleteShareGroupOffsetsResponseTopic(Struct):
    topic_name: str
    topic_id: Uuid
    error_code: Int16
    error_message: str | None = None


class DeleteShareGroupOffsetsResponse(Response, key=92, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = None
    responses: list[DeleteShareGroupOffsetsResponseTopic]
