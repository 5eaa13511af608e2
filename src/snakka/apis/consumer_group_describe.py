"""ConsumerGroupDescribe (key 69): state, members and assignments of consumer groups.

KIP-848, KIP-1099. Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)


@api(ApiKey.CONSUMER_GROUP_DESCRIBE)
async def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    return await context.services.groups.describe_consumer_groups(request, context.client)
