"""InitProducerId (key 22): a producer id for an idempotent producer. KIP-98, KIP-360.

A producer that comes back with its id and epoch gets the next epoch, or another id once epochs
have run out. Not here: transactional producers, who are refused until there is a transaction
coordinator.
"""

from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

_NO_PRODUCER: Final = -1


@api(ApiKey.INIT_PRODUCER_ID)
async def init_producer_id(
    request: InitProducerIdRequest, context: RequestContext
) -> InitProducerIdResponse:
    if request.transactional_id is not None:
        return _refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        producer_id=await context.services.producer_ids.next(),
        producer_epoch=0,
    )


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0, error_code=code, producer_id=_NO_PRODUCER, producer_epoch=_NO_PRODUCER
    )
