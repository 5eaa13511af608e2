"""AssignReplicasToDirs (key 73): where replicas are. The controller decides (controller/).

KIP-858.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
)


@controller_api(ApiKey.ASSIGN_REPLICAS_TO_DIRS)
async def assign_replicas_to_dirs(
    request: AssignReplicasToDirsRequest, context: NodeContext
) -> AssignReplicasToDirsResponse:
    return await context.ask_controller(request, AssignReplicasToDirsResponse)
