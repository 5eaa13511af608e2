"""AddOffsetsToTxn (key 25): bring a group's offsets partition into a transaction."""

from snakka.protocol.schema import Request, Response
from snakka.protocol.types import Int16, Int32, Int64


class AddOffsetsToTxnRequest(Request, key=25, versions="0-4", flexible="3+"):
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    group_id: str


class AddOffsetsToTxnResponse(Response, key=25, versions="0-4", flexible="3+"):
    throttle_time_ms: Int32
    error_code: Int16
