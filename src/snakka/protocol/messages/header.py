"""What precedes every request and response in its frame.

Which version precedes which message is said by frames.py.
"""

from snakka.protocol.schema import Message, field
from snakka.protocol.types import Int16, Int32


class RequestHeader(Message, versions="1-2", flexible="2+"):
    request_api_key: Int16
    request_api_version: Int16
    correlation_id: Int32
    client_id: str | None = field(flexible=False)


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    correlation_id: Int32
