"""ExpireDelegationToken (key 40): bring forward a token's expiry."""

from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Int16, Int32, Int64


class ExpireDelegationTokenRequest(
    Request, key=40, versions="1-2", flexible="2+", listeners=Listeners.BOTH
):
    hmac: bytes
    expiry_time_period_ms: Int64


class ExpireDelegationTokenResponse(Response, key=40, versions="1-2", flexible="2+"):
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
