"""AddOffsetsToTxn (key 25): a transaction is about to commit a group's offsets. KIP-98.

Brings the partition of the group's coordinator into the transaction. Clients of transactions of
version 2 leave this out: TxnOffsetCommit does it for them (KIP-890).
"""

from typing import Final

from snakka.apis.cluster import OFFSETS_TOPIC
from snakka.apis.context import RequestContext
from snakka.apis.errors import fencing_code
from snakka.apis.registry import api
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)

_KNOWS_FENCING_FROM: Final = 2


@api(ApiKey.ADD_OFFSETS_TO_TXN)
async def add_offsets_to_txn(
    request: AddOffsetsToTxnRequest, context: RequestContext
) -> AddOffsetsToTxnResponse:
    index = context.services.groups.partition_of(request.group_id)
    code = await context.services.transactions.add_partitions(
        request.transactional_id,
        Producer(request.producer_id, request.producer_epoch),
        {TopicPartition(OFFSETS_TOPIC, index)},
        0,
    )
    return AddOffsetsToTxnResponse(
        throttle_time_ms=0, error_code=fencing_code(code, context.version, _KNOWS_FENCING_FROM)
    )
