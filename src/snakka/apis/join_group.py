"""JoinGroup (key 11): enter a classic group or its next generation. KIP-345, KIP-394, KIP-800.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse


@api(ApiKey.JOIN_GROUP)
async def join_group(request: JoinGroupRequest, context: RequestContext) -> JoinGroupResponse:
    return await context.services.groups.join_group(request, context.client)
