"""AddPartitionsToTxn (key 24): partitions that a transaction is about to write to. KIP-98.

Up to version 3 clients send it, of one transaction. From version 4 on it is for brokers (KIP-890):
many transactions at once, to be added to, or only looked at where `verify_only` is set.
Partitions of a transaction are added together or not at all.
"""

from collections.abc import Mapping
from typing import Final

from snakka.apis.cluster import INTERNAL_TOPICS
from snakka.apis.context import RequestContext
from snakka.apis.errors import fencing_code
from snakka.apis.registry import api
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.initializing import Producer
from snakka.coordinators.transactions.metadata import TRANSACTION_V2
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

_KNOWS_FENCING_FROM: Final = 2
_FIRST_OF_BROKERS: Final = 4


@api(ApiKey.ADD_PARTITIONS_TO_TXN)
async def add_partitions_to_txn(
    request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse:
    if context.version >= _FIRST_OF_BROKERS:
        results = [await _add(each, TRANSACTION_V2, context) for each in request.transactions]
        return AddPartitionsToTxnResponse(
            throttle_time_ms=0, error_code=ErrorCode.NONE, results_by_transaction=results
        )
    result = await _add(_only_transaction(request), 0, context)
    return AddPartitionsToTxnResponse(
        throttle_time_ms=0, results_by_topic_v3_and_below=result.topic_results
    )


def _only_transaction(request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )


async def _add(
    wanted: AddPartitionsToTxnTransaction, client_version: int, context: RequestContext
) -> AddPartitionsToTxnResult:
    partitions = {
        TopicPartition(topic.name, index) for topic in wanted.topics for index in topic.partitions
    }
    codes = _refuse_unknown(partitions, context)
    if not codes:
        codes = await _ask(wanted, partitions, client_version, context)
    return AddPartitionsToTxnResult(
        transactional_id=wanted.transactional_id,
        topic_results=[_topic_result(topic, codes, context.version) for topic in wanted.topics],
    )


def _refuse_unknown(
    partitions: set[TopicPartition], context: RequestContext
) -> Mapping[TopicPartition, ErrorCode]:
    """One partition that is not there, or not for clients, keeps out the others too."""
    refused = {}
    for each in partitions:
        topic = context.image.topics.find(each.topic)
        if context.version < _FIRST_OF_BROKERS and each.topic in INTERNAL_TOPICS:
            refused[each] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif topic is None or each.partition not in topic.partitions:
            refused[each] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not refused:
        return {}
    return dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused


async def _ask(
    wanted: AddPartitionsToTxnTransaction,
    partitions: set[TopicPartition],
    client_version: int,
    context: RequestContext,
) -> Mapping[TopicPartition, ErrorCode]:
    transactions = context.services.transactions
    producer = Producer(wanted.producer_id, wanted.producer_epoch)
    if wanted.verify_only:
        return await transactions.verify_partitions(wanted.transactional_id, producer, partitions)
    code = await transactions.add_partitions(
        wanted.transactional_id, producer, partitions, client_version
    )
    return dict.fromkeys(partitions, code)


def _topic_result(
    topic: AddPartitionsToTxnTopic, codes: Mapping[TopicPartition, ErrorCode], version: int
) -> AddPartitionsToTxnTopicResult:
    return AddPartitionsToTxnTopicResult(
        name=topic.name,
        results_by_partition=[
            AddPartitionsToTxnPartitionResult(
                partition_index=index,
                partition_error_code=fencing_code(
                    codes[TopicPartition(topic.name, index)], version, _KNOWS_FENCING_FROM
                ),
            )
            for index in topic.partitions
        ],
    )
