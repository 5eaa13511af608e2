"""ApiVersions (key 18): which APIs this listener serves, in which versions.

KIP-511 client software names, and an answer even to a version that is not served; KIP-584
features. Versions of Produce that no client uses any more are announced as Kafka 4 does (KIP-896):
older librdkafka looks for them before it uses newer ones.
"""

from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.registry import APIS, api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from snakka.protocol.schema import Listeners

_PRODUCE_FIRST_ANNOUNCED: Final = 0


@api(ApiKey.API_VERSIONS)
async def api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    if context.version >= 3 and not _is_valid(request):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
    return ApiVersionsResponse(
        error_code=ErrorCode.NONE, api_keys=_served(context.services.listeners)
    )


def refuse_version(listeners: Listeners) -> ApiVersionsResponse:
    """The answer, in version 0, to a version of this API that is not served."""
    served = [each for each in _served(listeners) if each.api_key == ApiKey.API_VERSIONS]
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=served)


def _served(listeners: Listeners) -> list[ApiVersion]:
    return [
        ApiVersion(
            api_key=each.key,
            min_version=_first_announced(each.key, each.versions.first),
            max_version=each.versions.last,
        )
        for each in sorted(APIS.values(), key=lambda each: each.key)
        if listeners in each.listeners
    ]


def _first_announced(key: ApiKey, first: int) -> int:
    return _PRODUCE_FIRST_ANNOUNCED if key is ApiKey.PRODUCE else first


def _is_valid(request: ApiVersionsRequest) -> bool:
    """Kafka's rule for the names: letters, digits, dots and dashes, never at either end."""
    return all(
        name
        and name[0].isalnum()
        and name[-1].isalnum()
        and all(sign.isalnum() or sign in ".-" for sign in name)
        for name in (request.client_software_name, request.client_software_version)
    )
