"""DeleteGroups (key 42): remove empty groups. KIP-229.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse


@api(ApiKey.DELETE_GROUPS)
async def delete_groups(
    request: DeleteGroupsRequest, context: RequestContext
) -> DeleteGroupsResponse:
    return await context.services.groups.delete_groups(request, context.client)
