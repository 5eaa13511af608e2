"""RenewDelegationToken (key 39): postpone a token's expiry. KIP-48.

Refused, as Kafka does on a PLAINTEXT listener, which is the only kind there is yet: a token would
speak for somebody who never said who they are.
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)


@api(ApiKey.RENEW_DELEGATION_TOKEN)
async def renew_delegation_token(
    request: RenewDelegationTokenRequest, context: RequestContext
) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        expiry_timestamp_ms=-1,
        throttle_time_ms=0,
    )
