"""AllocateProducerIds (key 67): a block of ids. The controller decides (controller/).

KIP-730.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)


@controller_api(ApiKey.ALLOCATE_PRODUCER_IDS)
async def allocate_producer_ids(
    request: AllocateProducerIdsRequest, context: NodeContext
) -> AllocateProducerIdsResponse:
    return await context.ask_controller(request, AllocateProducerIdsResponse)
