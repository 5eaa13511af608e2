"""DescribeProducers (key 61): the producers active in partitions. KIP-664."""

from snakka.apis.context import RequestContext
from snakka.apis.errors import TOLD_ERRORS, error_code
from snakka.apis.registry import api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from snakka.storage.producer_state import ProducerEntry


@api(ApiKey.DESCRIBE_PRODUCERS)
async def describe_producers(
    request: DescribeProducersRequest, context: RequestContext
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        throttle_time_ms=0,
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    _partition(topic.name, index, context) for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ],
    )


def _partition(topic: str, index: int, context: RequestContext) -> PartitionResponse:
    try:
        replica = context.replicas.get(topic, index)
        replica.partition.check_leader()
    except TOLD_ERRORS as error:
        return PartitionResponse(
            partition_index=index,
            error_code=error_code(error),
            error_message=str(error),
            active_producers=[],
        )
    return PartitionResponse(
        partition_index=index,
        error_code=ErrorCode.NONE,
        active_producers=[_producer(each) for each in replica.log.producers.entries],
    )


def _producer(entry: ProducerEntry) -> ProducerState:
    start = entry.current_txn_first_offset
    return ProducerState(
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        last_sequence=entry.last_sequence,
        last_timestamp=entry.last_timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_start_offset=-1 if start is None else start,
    )
