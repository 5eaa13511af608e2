"""ListPartitionReassignments (key 46): the moves under way.

The controller decides (controller/).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


@api(ApiKey.LIST_PARTITION_REASSIGNMENTS)
async def list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: RequestContext
) -> ListPartitionReassignmentsResponse:
    return await context.services.controller.ask(
        request, context.version, ListPartitionReassignmentsResponse
    )
