"""IncrementalAlterConfigs (key 44): set, unset, append to and take from configuration values.

The controller decides (controller/).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


@api(ApiKey.INCREMENTAL_ALTER_CONFIGS)
async def incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    return await context.services.controller.ask(
        request, context.version, IncrementalAlterConfigsResponse
    )
