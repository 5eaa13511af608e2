"""AlterConfigs (key 33): replace the configuration of resources.

The controller decides (controller/).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse


@api(ApiKey.ALTER_CONFIGS)
async def alter_configs(
    request: AlterConfigsRequest, context: RequestContext
) -> AlterConfigsResponse:
    return await context.services.controller.ask(request, context.version, AlterConfigsResponse)
