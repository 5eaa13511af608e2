"""WriteTxnMarkers (key 27): a transaction coordinator's order to end transactions in partitions.

KIP-98; KIP-1228 says the transaction's version (v2), by which a marker that comes late is known.
Answered once the markers are committed. Not here: writing them (node/markers.py).
"""

import asyncio

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import TransactionEnd
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


@api(ApiKey.WRITE_TXN_MARKERS)
async def write_txn_markers(
    request: WriteTxnMarkersRequest, context: RequestContext
) -> WriteTxnMarkersResponse:
    results = await asyncio.gather(*(_write(each, context) for each in request.markers))
    return WriteTxnMarkersResponse(markers=results)


async def _write(marker: WritableTxnMarker, context: RequestContext) -> WritableTxnMarkerResult:
    end = TransactionEnd(
        marker.producer_id,
        marker.producer_epoch,
        marker.coordinator_epoch,
        marker.transaction_result,
        marker.transaction_version,
    )
    partitions = {
        TopicPartition(topic.name, index)
        for topic in marker.topics
        for index in topic.partition_indexes
    }
    codes = await context.services.markers.write(end, partitions)
    return WritableTxnMarkerResult(
        producer_id=marker.producer_id,
        topics=[
            WritableTxnMarkerTopicResult(
                name=topic.name,
                partitions=[
                    WritableTxnMarkerPartitionResult(
                        partition_index=index,
                        error_code=codes[TopicPartition(topic.name, index)],
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )
