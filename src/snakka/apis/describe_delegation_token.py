"""DescribeDelegationToken (key 41): the tokens of owners. KIP-48.

Refused, as Kafka does on a PLAINTEXT listener, which is the only kind there is yet: a token would
speak for somebody who never said who they are.
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)


@api(ApiKey.DESCRIBE_DELEGATION_TOKEN)
async def describe_delegation_token(
    request: DescribeDelegationTokenRequest, context: RequestContext
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        tokens=[],
        throttle_time_ms=0,
    )
