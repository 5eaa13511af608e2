"""AlterPartitionReassignments (key 45): start or cancel moves.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)


@node_api(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
async def alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, context: NodeContext
) -> AlterPartitionReassignmentsResponse:
    return await context.ask_controller(request, AlterPartitionReassignmentsResponse)
