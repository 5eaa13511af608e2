"""AlterConfigs (key 33): replace the configuration of resources.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse


@node_api(ApiKey.ALTER_CONFIGS)
async def alter_configs(request: AlterConfigsRequest, context: NodeContext) -> AlterConfigsResponse:
    return await context.ask_controller(request, AlterConfigsResponse)
