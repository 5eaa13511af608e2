"""ExpireDelegationToken (key 40): bring forward a token's expiry. KIP-48.

Refused, as Kafka does on a PLAINTEXT listener, which is the only kind there is yet: a token would
speak for somebody who never said who they are.
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)


@api(ApiKey.EXPIRE_DELEGATION_TOKEN)
async def expire_delegation_token(
    request: ExpireDelegationTokenRequest, context: RequestContext
) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        expiry_timestamp_ms=-1,
        throttle_time_ms=0,
    )
