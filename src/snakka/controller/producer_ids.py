"""AllocateProducerIds (KIP-730): each block of producer ids is given out once, to one broker."""

from typing import Final

from snakka.controller.broker_heartbeat import get_broker
from snakka.controller.decision import Decision, RefusedError
from snakka.controller.view import View
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import ProducerIdsRecord
from snakka.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

BLOCK_SIZE: Final = 1_000
_INT64_MAX: Final = 2**63 - 1


def allocate_producer_ids(
    view: View, request: AllocateProducerIdsRequest
) -> Decision[AllocateProducerIdsResponse]:
    try:
        get_broker(view, request.broker_id, request.broker_epoch)
    except RefusedError as refused:
        return Decision(_response(refused.code, 0, 0))
    start = view.image.next_producer_id
    if start > _INT64_MAX - BLOCK_SIZE:
        return Decision(_response(ErrorCode.UNKNOWN_SERVER_ERROR, 0, 0))
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=start + BLOCK_SIZE,
    )
    return Decision(_response(ErrorCode.NONE, start, BLOCK_SIZE), [record])


def _response(code: ErrorCode, start: int, size: int) -> AllocateProducerIdsResponse:
    return AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=code, producer_id_start=start, producer_id_len=size
    )
