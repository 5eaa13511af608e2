"""InitProducerId (key 22): a producer id and epoch, fencing earlier holders of the transactional
id.

KIP-360 epoch bump by the producer (v3), KIP-939 two-phase commit (v6).
"""

from snakka.protocol.schema import Request, Response, field
from snakka.protocol.types import Int16, Int32, Int64


class InitProducerIdRequest(Request, key=22, versions="0-6", flexible="2+", unstable=6):
    transactional_id: str | None
    transaction_timeout_ms: Int32
    producer_id: Int64 = field("3+", default=-1)
    producer_epoch: Int16 = field("3+", default=-1)
    enable2_pc: bool = field("6+", default=False)
    keep_prepared_txn: bool = field("6+", default=False)


class InitProducerIdResponse(Response, key=22, versions="0-6", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = -1
    producer_epoch: Int16
    ongoing_txn_producer_id: Int64 = field("6+", default=-1)
    ongoing_txn_producer_epoch: Int16 = field("6+", default=-1)
