"""ControllerRegistration (key 70): a controller is there. The controller decides (controller/).

KIP-919.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)


@controller_api(ApiKey.CONTROLLER_REGISTRATION)
async def controller_registration(
    request: ControllerRegistrationRequest, context: NodeContext
) -> ControllerRegistrationResponse:
    return await context.ask_controller(request, ControllerRegistrationResponse)
