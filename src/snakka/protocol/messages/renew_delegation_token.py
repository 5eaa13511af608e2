"""RenewDelegationToken (key 39): postpone a token's expiry."""

from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Int16, Int32, Int64


class RenewDelegationTokenRequest(
    Request, key=39, versions="1-2", flexible="2+", listeners=Listeners.BOTH
):
    hmac: bytes
    renew_period_ms: Int64


class RenewDelegationTokenResponse(Response, key=39, versions="1-2", flexible="2+"):
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32
