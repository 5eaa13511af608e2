"""Heartbeat (key 12): stay a member of a classic group. KIP-345.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


@api(ApiKey.HEARTBEAT)
async def heartbeat(request: HeartbeatRequest, context: RequestContext) -> HeartbeatResponse:
    return await context.services.groups.heartbeat(request, context.client)
