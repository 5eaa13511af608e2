"""LeaveGroup (key 13): end memberships of a classic group. KIP-345, KIP-800.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse


@api(ApiKey.LEAVE_GROUP)
async def leave_group(request: LeaveGroupRequest, context: RequestContext) -> LeaveGroupResponse:
    return await context.services.groups.leave_group(request, context.client)
