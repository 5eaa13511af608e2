"""InitProducerId (key 22): a producer id and epoch. KIP-98, KIP-360.

With a transactional id, whoever produced under it before is fenced, and its transaction aborted;
the client is told to come again until that is done. Without one, a new id is all it takes.
Decided by the transaction coordinator (coordinators/transactions). Not here: two-phase commit
(KIP-939), of the version that is not stable yet.
"""

from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.errors import fencing_code
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

_KNOWS_FENCING_FROM: Final = 4


@api(ApiKey.INIT_PRODUCER_ID)
async def init_producer_id(
    request: InitProducerIdRequest, context: RequestContext
) -> InitProducerIdResponse:
    answer = await context.services.transactions.init_producer_id(request)
    code = ErrorCode(answer.error_code)
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=fencing_code(code, context.version, _KNOWS_FENCING_FROM),
        producer_id=answer.producer_id,
        producer_epoch=answer.producer_epoch,
    )
