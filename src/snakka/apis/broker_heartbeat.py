"""BrokerHeartbeat (key 63): a broker lives. The controller decides (controller/).

KIP-631.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)


@controller_api(ApiKey.BROKER_HEARTBEAT)
async def broker_heartbeat(
    request: BrokerHeartbeatRequest, context: NodeContext
) -> BrokerHeartbeatResponse:
    return await context.ask_controller(request, BrokerHeartbeatResponse)
