"""ListConfigResources (key 74): the resources that configuration can be set for.

KIP-714 subscriptions to client metrics (v0, where it was called ListClientMetricsResources),
KIP-1142 all kinds (v1). Log levels are no resource here: Snakka has no broker loggers.
"""

from collections.abc import Iterator
from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.metadata.image import MetadataImage
from snakka.metadata.keys import ConfigType
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_KINDS: Final = frozenset(ConfigType) - {ConfigType.UNKNOWN}


@api(ApiKey.LIST_CONFIG_RESOURCES)
async def list_config_resources(
    request: ListConfigResourcesRequest, context: RequestContext
) -> ListConfigResourcesResponse:
    known = _KINDS if context.version >= 1 else {ConfigType.CLIENT_METRICS}
    kinds = set(request.resource_types) or set(known)
    is_known = kinds <= known
    return ListConfigResourcesResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE if is_known else ErrorCode.UNSUPPORTED_VERSION,
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in sorted(kinds)
            for name in _names(kind, context.image)
        ]
        if is_known
        else [],
    )


def _names(kind: int, image: MetadataImage) -> Iterator[str]:
    """Topics and brokers are there without configuration, the others because of it."""
    match kind:
        case ConfigType.TOPIC:
            yield from sorted(topic.name for topic in image.topics.by_id.values())
        case ConfigType.BROKER:
            yield from (str(each) for each in sorted(image.brokers) if image.is_active(each))
        case ConfigType.GROUP | ConfigType.CLIENT_METRICS:
            yield from sorted(each.name for each in image.configs if each.type == kind)
