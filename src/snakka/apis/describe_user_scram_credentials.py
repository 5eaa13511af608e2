"""DescribeUserScramCredentials (key 50): which mechanisms users have credentials of. KIP-554."""

from collections import Counter

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


@api(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
async def describe_user_scram_credentials(
    request: DescribeUserScramCredentialsRequest, context: RequestContext
) -> DescribeUserScramCredentialsResponse:
    credentials: dict[str, list[CredentialInfo]] = {}
    for key, each in sorted(context.image.scram.items()):
        info = CredentialInfo(mechanism=key.mechanism, iterations=each.iterations)
        credentials.setdefault(key.user, []).append(info)
    times = Counter(each.name for each in request.users or ()) or Counter(credentials.keys())
    return DescribeUserScramCredentialsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message=None,
        results=[_result(user, credentials.get(user), count) for user, count in times.items()],
    )


def _result(
    user: str, found: list[CredentialInfo] | None, times: int
) -> DescribeUserScramCredentialsResult:
    code, message = ErrorCode.NONE, None
    if times > 1:
        code, message = ErrorCode.DUPLICATE_RESOURCE, f"{user} is asked for {times} times"
    elif found is None:
        code, message = ErrorCode.RESOURCE_NOT_FOUND, f"{user} has no credentials"
    return DescribeUserScramCredentialsResult(
        user=user,
        error_code=code,
        error_message=message,
        credential_infos=found if found is not None and code is ErrorCode.NONE else [],
    )
