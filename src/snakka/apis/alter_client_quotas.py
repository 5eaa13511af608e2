"""AlterClientQuotas (key 49): set and remove quotas of users, client ids and addresses. KIP-546.

The controller decides (controller/).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
)


@node_api(ApiKey.ALTER_CLIENT_QUOTAS)
async def alter_client_quotas(
    request: AlterClientQuotasRequest, context: NodeContext
) -> AlterClientQuotasResponse:
    return await context.ask_controller(request, AlterClientQuotasResponse)
