"""UnregisterBroker (key 64): take a broker out of the cluster.

The controller decides (controller/).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)


@api(ApiKey.UNREGISTER_BROKER)
async def unregister_broker(
    request: UnregisterBrokerRequest, context: RequestContext
) -> UnregisterBrokerResponse:
    return await context.services.controller.ask(request, context.version, UnregisterBrokerResponse)
