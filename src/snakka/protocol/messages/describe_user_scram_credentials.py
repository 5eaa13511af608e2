"""DescribeUserScramCredentials (key 50): which SCRAM credentials users have, never the
credentials.

KIP-554.
"""

from snakka.protocol.schema import Listeners, Request, Response, Struct
from snakka.protocol.types import Int8, Int16, Int32


class UserName(Struct):
    name: str


class DescribeUserScramCredentialsRequest(
    Request, key=50, versions="0", flexible="0+", listeners=Listeners.BOTH
):
    users: list[UserName] | None


class CredentialInfo(Struct):
    mechanism: Int8
    iterations: Int32


class DescribeUserScramCredentialsResult(Struct):
    user: str
    error_code: Int16
    error_message: str | None
    credential_infos: list[CredentialInfo]


class DescribeUserScramCredentialsResponse(Response, key=50, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]
