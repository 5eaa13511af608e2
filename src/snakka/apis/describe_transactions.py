"""DescribeTransactions (key 65): state, producer and partitions of transactional ids. KIP-664.

Decided by the transaction coordinator (coordinators/transactions).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)


@api(ApiKey.DESCRIBE_TRANSACTIONS)
async def describe_transactions(
    request: DescribeTransactionsRequest, context: RequestContext
) -> DescribeTransactionsResponse:
    return await context.services.transactions.describe_transactions(request)
