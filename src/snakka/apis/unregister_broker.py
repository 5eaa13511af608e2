"""UnregisterBroker (key 64): forget a broker. The controller decides (controller/).

KIP-631.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)


@node_api(ApiKey.UNREGISTER_BROKER)
async def unregister_broker(
    request: UnregisterBrokerRequest, context: NodeContext
) -> UnregisterBrokerResponse:
    return await context.ask_controller(request, UnregisterBrokerResponse)
