"""BrokerRegistration (key 62): a broker enters the cluster. The controller decides (controller/).

KIP-631.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)


@controller_api(ApiKey.BROKER_REGISTRATION)
async def broker_registration(
    request: BrokerRegistrationRequest, context: NodeContext
) -> BrokerRegistrationResponse:
    return await context.ask_controller(request, BrokerRegistrationResponse)
