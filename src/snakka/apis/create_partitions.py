"""CreatePartitions (key 37): grow topics. The controller decides (controller/)."""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
)


@node_api(ApiKey.CREATE_PARTITIONS)
async def create_partitions(
    request: CreatePartitionsRequest, context: NodeContext
) -> CreatePartitionsResponse:
    return await context.ask_controller(request, CreatePartitionsResponse)
