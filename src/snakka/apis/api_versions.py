"""ApiVersions (key 18): which APIs this listener serves, in which versions.

KIP-511 client software names, and an answer even to a version that is not served; KIP-584
features. Versions of Produce that no client uses any more are announced as Kafka 4 does (KIP-896):
older librdkafka looks for them before it uses newer ones.
"""

from typing import Final

from snakka.apis.context import NodeContext
from snakka.apis.registry import apis_of, node_api
from snakka.metadata.versions import KRAFT_VERSION, SUPPORTED_FEATURES
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from snakka.protocol.schema import Listeners

_PRODUCE_FIRST_ANNOUNCED: Final = 0
_ZERO_LEVELS: Final = 4


@node_api(ApiKey.API_VERSIONS)
async def api_versions(request: ApiVersionsRequest, context: NodeContext) -> ApiVersionsResponse:
    if context.version >= 3 and not _is_valid(request):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
    finalized = _finalized(context)
    return ApiVersionsResponse(
        error_code=ErrorCode.NONE,
        api_keys=_served(context.services.listeners),
        supported_features=_supported(context.version),
        finalized_features_epoch=context.image.provenance.offset if finalized else -1,
        finalized_features=finalized,
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
        for each in sorted(apis_of(listeners).values(), key=lambda each: each.key)
    ]


def _supported(version: int) -> list[SupportedFeatureKey]:
    """Older clients cannot read a range that begins with 0, and are told of no such feature."""
    return [
        SupportedFeatureKey(name=name, min_version=levels.min, max_version=levels.max)
        for name, levels in SUPPORTED_FEATURES.items()
        if levels.min > 0 or version >= _ZERO_LEVELS
    ]


def _finalized(context: NodeContext) -> list[FinalizedFeatureKey]:
    levels = dict(context.image.features)
    kraft_version = context.services.find_quorum().kraft_version
    if levels and kraft_version:
        levels[KRAFT_VERSION] = kraft_version
    return [
        FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for name, level in levels.items()
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
