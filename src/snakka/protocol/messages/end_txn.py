"""EndTxn (key 26): commit or abort a transaction.

KIP-890 the next producer epoch in the answer (v5).
"""

from snakka.protocol.schema import Request, Response, field
from snakka.protocol.types import Int16, Int32, Int64


class EndTxnRequest(Request, key=26, versions="0-5", flexible="3+"):
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    committed: bool


class EndTxnResponse(Response, key=26, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = field("5+", default=-1, ignorable=True)
    producer_epoch: Int16 = field("5+", default=-1, ignorable=True)
