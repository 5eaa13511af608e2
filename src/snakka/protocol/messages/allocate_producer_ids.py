"""AllocateProducerIds (key 67): a block of producer ids for a broker to give out.

KIP-730.
"""

from snakka.protocol.schema import Listeners, Request, Response
from snakka.protocol.types import Int16, Int32, Int64


class AllocateProducerIdsRequest(
    Request, key=67, versions="0", flexible="0+", listeners=Listeners.CONTROLLER
):
    broker_id: Int32
    broker_epoch: Int64 = -1


class AllocateProducerIdsResponse(Response, key=67, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id_start: Int64
    producer_id_len: Int32
