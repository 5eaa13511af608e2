"""DeleteTopics (key 20): remove topics.

KIP-516 topic ids (v6).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, Uuid


class DeleteTopicState(Struct):
    name: str | None = None
    topic_id: Uuid


class DeleteTopicsRequest(Request, key=20, versions="1-6", flexible="4+", listeners=Listeners.BOTH):
    topics: list[DeleteTopicState] = field("6+")
    topic_names: list[str] = field("1-5", ignorable=True)
    timeout_ms: Int32


class DeletableTopicResult(Struct):
    name: str | None = field(nullable="6+")
    topic_id: Uuid = field("6+", ignorable=True)
    error_code: Int16
    error_message: str | None = field("5+", default=None, ignorable=True)


class DeleteTopicsResponse(Response, key=20, versions="1-6", flexible="4+"):
    throttle_time_ms: Int32
    responses: list[DeletableTopicResult]
