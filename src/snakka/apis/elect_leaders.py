"""ElectLeaders (key 43): elect the preferred leader, or an unclean one.

The controller decides (controller/).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse


@api(ApiKey.ELECT_LEADERS)
async def elect_leaders(
    request: ElectLeadersRequest, context: RequestContext
) -> ElectLeadersResponse:
    return await context.services.controller.ask(request, context.version, ElectLeadersResponse)
