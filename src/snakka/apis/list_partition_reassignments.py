"""ListPartitionReassignments (key 46): the moves under way.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


@node_api(ApiKey.LIST_PARTITION_REASSIGNMENTS)
async def list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: NodeContext
) -> ListPartitionReassignmentsResponse:
    return await context.ask_controller(request, ListPartitionReassignmentsResponse)
