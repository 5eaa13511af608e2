"""AlterPartition (key 56): a leader changes its ISR. The controller decides (controller/).

KIP-497, KIP-903 broker epochs.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse


@controller_api(ApiKey.ALTER_PARTITION)
async def alter_partition(
    request: AlterPartitionRequest, context: NodeContext
) -> AlterPartitionResponse:
    return await context.ask_controller(request, AlterPartitionResponse)
