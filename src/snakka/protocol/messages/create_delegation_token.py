"""CreateDelegationToken (key 38): a token that lets its bearer act as its owner.

KIP-48, KIP-373 tokens for others (v3).
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct, field
from snakka.protocol.types import Int16, Int32, Int64


class CreatableRenewers(Struct):
    principal_type: str
    principal_name: str


class CreateDelegationTokenRequest(
    Request, key=38, versions="1-3", flexible="2+", listeners=Listeners.BOTH
):
    owner_principal_type: str | None = field("3+")
    owner_principal_name: str | None = field("3+")
    renewers: list[CreatableRenewers]
    max_lifetime_ms: Int64


class CreateDelegationTokenResponse(Response, key=38, versions="1-3", flexible="2+"):
    error_code: Int16
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = field("3+")
    token_requester_principal_name: str = field("3+")
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: str
    hmac: bytes
    throttle_time_ms: Int32
