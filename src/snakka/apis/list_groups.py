"""ListGroups (key 16): the groups that this broker coordinates. KIP-518, KIP-848.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse


@api(ApiKey.LIST_GROUPS)
async def list_groups(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    return await context.services.groups.list_groups(request, context.client)
