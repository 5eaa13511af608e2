"""IncrementalAlterConfigs (key 44): set, unset, append to and take from configuration values.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


@node_api(ApiKey.INCREMENTAL_ALTER_CONFIGS)
async def incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: NodeContext
) -> IncrementalAlterConfigsResponse:
    return await context.ask_controller(request, IncrementalAlterConfigsResponse)
