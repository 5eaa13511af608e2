"""SaslAuthenticate (key 36): one exchange of a SASL mechanism.

KIP-368 session lifetime (v1).
"""

from snakka.protocol.schema import Listeners, Request, Response, field
from snakka.protocol.types import Int16, Int64


class SaslAuthenticateRequest(
    Request, key=36, versions="0-2", flexible="2+", listeners=Listeners.BOTH
):
    auth_bytes: bytes


class SaslAuthenticateResponse(Response, key=36, versions="0-2", flexible="2+"):
    error_code: Int16
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: Int64 = field("1+", default=0, ignorable=True)
