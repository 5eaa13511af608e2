"""CreateDelegationToken (key 38): a token that lets its bearer act as its owner. KIP-48.

Refused, as Kafka does on a PLAINTEXT listener, which is the only kind there is yet: a token would
speak for somebody who never said who they are.
"""

from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

_FIRST_WITH_REQUESTER: Final = 3


@api(ApiKey.CREATE_DELEGATION_TOKEN)
async def create_delegation_token(
    request: CreateDelegationTokenRequest, context: RequestContext
) -> CreateDelegationTokenResponse:
    has_requester = context.version >= _FIRST_WITH_REQUESTER
    return CreateDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        principal_type="User",
        principal_name="ANONYMOUS",
        token_requester_principal_type="User" if has_requester else "",
        token_requester_principal_name="ANONYMOUS" if has_requester else "",
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
        token_id="",
        hmac=b"",
        throttle_time_ms=0,
    )
