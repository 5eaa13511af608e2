"""ConsumerGroupDescribe (key 69): state, members and assignments of consumer groups.

KIP-430 authorized operations, KIP-848, KIP-1099.
Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.authorization import ON_GROUP
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from snakka.protocol.schema import replace


@api(ApiKey.CONSUMER_GROUP_DESCRIBE)
async def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    answer = await context.services.groups.describe_consumer_groups(request, context.client)
    if not request.include_authorized_operations:
        return answer
    return ConsumerGroupDescribeResponse(
        throttle_time_ms=0,
        groups=[
            each if each.error_code else replace(each, authorized_operations=ON_GROUP)
            for each in answer.groups
        ],
    )
