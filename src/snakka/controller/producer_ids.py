"""AllocateProducerIds: a block of producer ids for one broker to give out (KIP-730)."""

from snakka.controller.broker_heartbeat import get_broker
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.view import View
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import ProducerIdsRecord
from snakka.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

BLOCK_SIZE = 1000
_LAST_ID = (1 << 63) - 1


def allocate_producer_ids(
    view: View, request: AllocateProducerIdsRequest
) -> Decision[AllocateProducerIdsResponse]:
    first = view.image.next_producer_id
    try:
        get_broker(view, request.broker_id, request.broker_epoch)
        if first > _LAST_ID - BLOCK_SIZE:
            raise RefusedError(ErrorCode.UNKNOWN_SERVER_ERROR)
    except RefusedError as refused:
        return Decision(_allocated(refused.code, 0, 0))
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=first + BLOCK_SIZE,
    )
    return Decision(_allocated(ErrorCode.NONE, first, BLOCK_SIZE), [record])


def _allocated(code: ErrorCode, first: int, count: int) -> AllocateProducerIdsResponse:
    return AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=code, producer_id_start=first, producer_id_len=count
    )
