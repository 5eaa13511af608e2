"""ElectLeaders (key 43): elect the preferred leader, or an unclean one.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse


@node_api(ApiKey.ELECT_LEADERS)
async def elect_leaders(request: ElectLeadersRequest, context: NodeContext) -> ElectLeadersResponse:
    return await context.ask_controller(request, ElectLeadersResponse)
