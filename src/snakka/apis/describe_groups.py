"""DescribeGroups (key 15): state, members and assignments of classic groups.

KIP-345 static members, KIP-430 authorized operations (v3), KIP-1043 an error for a group that is
not there (v6).

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.authorization import ON_GROUP
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from snakka.protocol.schema import replace


@api(ApiKey.DESCRIBE_GROUPS)
async def describe_groups(
    request: DescribeGroupsRequest, context: RequestContext
) -> DescribeGroupsResponse:
    answer = await context.services.groups.describe_groups(request, context.client)
    if not request.include_authorized_operations:
        return answer
    return DescribeGroupsResponse(
        groups=[
            each if each.error_code else replace(each, authorized_operations=ON_GROUP)
            for each in answer.groups
        ]
    )
