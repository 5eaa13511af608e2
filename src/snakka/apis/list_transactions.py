"""ListTransactions (key 66): the transactional ids that this broker coordinates.

KIP-664, KIP-994 by duration (v1), KIP-1152 by a pattern of the id (v2). Decided by the transaction
coordinator (coordinators/transactions).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)


@api(ApiKey.LIST_TRANSACTIONS)
async def list_transactions(
    request: ListTransactionsRequest, context: RequestContext
) -> ListTransactionsResponse:
    return await context.services.transactions.list_transactions(request)
