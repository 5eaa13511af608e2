"""AlterPartitionReassignments (key 45): start or cancel moves.

The controller decides (controller/).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)


@api(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
async def alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, context: RequestContext
) -> AlterPartitionReassignmentsResponse:
    return await context.services.controller.ask(
        request, context.version, AlterPartitionReassignmentsResponse
    )
