"""CreatePartitions (key 37): grow topics. The controller decides (controller/)."""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
)


@api(ApiKey.CREATE_PARTITIONS)
async def create_partitions(
    request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    return await context.services.controller.ask(request, context.version, CreatePartitionsResponse)
