"""SyncGroup (key 14): hand in, or receive, a generation's assignment. KIP-345, KIP-559.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


@api(ApiKey.SYNC_GROUP)
async def sync_group(request: SyncGroupRequest, context: RequestContext) -> SyncGroupResponse:
    return await context.services.groups.sync_group(request, context.client)
