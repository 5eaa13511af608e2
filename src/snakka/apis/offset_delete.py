"""OffsetDelete (key 47): remove a group's stored positions. KIP-496.

Decided by the group's coordinator (coordinators/groups).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


@api(ApiKey.OFFSET_DELETE)
async def offset_delete(
    request: OffsetDeleteRequest, context: RequestContext
) -> OffsetDeleteResponse:
    return await context.services.groups.delete_offsets(request, context.client)
