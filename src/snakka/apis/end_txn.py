"""EndTxn (key 26): commit or abort a transaction. KIP-98.

It is answered once the outcome is decided; markers follow. KIP-890: from version 5 on the answer
has the epoch of the next transaction, and a new producer id where epochs have run out.
Decided by the transaction coordinator (coordinators/transactions).
"""

from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.errors import fencing_code
from snakka.apis.registry import api
from snakka.coordinators.transactions.metadata import TRANSACTION_V2
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse

_KNOWS_FENCING_FROM: Final = 2
_FIRST_OF_V2: Final = 5


@api(ApiKey.END_TXN)
async def end_txn(request: EndTxnRequest, context: RequestContext) -> EndTxnResponse:
    client_version = TRANSACTION_V2 if context.version >= _FIRST_OF_V2 else 0
    answer = await context.services.transactions.end_transaction(request, client_version)
    code = ErrorCode(answer.error_code)
    return EndTxnResponse(
        throttle_time_ms=0,
        error_code=fencing_code(code, context.version, _KNOWS_FENCING_FROM),
        producer_id=answer.producer_id,
        producer_epoch=answer.producer_epoch,
    )
