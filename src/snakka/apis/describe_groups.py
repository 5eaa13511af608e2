"""DescribeGroups (key 15): state, members and assignments of classic groups. KIP-345, KIP-1043.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse


@api(ApiKey.DESCRIBE_GROUPS)
async def describe_groups(
    request: DescribeGroupsRequest, context: RequestContext
) -> DescribeGroupsResponse:
    return await context.services.groups.describe_groups(request, context.client)
