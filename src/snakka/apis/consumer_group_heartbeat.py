"""ConsumerGroupHeartbeat (key 68): join, stay in and leave a consumer group. KIP-848.

Decided by the group's coordinator (coordinators/groups). Subscriptions by regular expression (v1)
are refused with INVALID_REQUEST so far.
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


@api(ApiKey.CONSUMER_GROUP_HEARTBEAT)
async def consumer_group_heartbeat(
    request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerGroupHeartbeatResponse:
    return await context.services.groups.consumer_group_heartbeat(request, context.client)
