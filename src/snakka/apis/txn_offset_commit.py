"""TxnOffsetCommit (key 28): store a group's positions when a transaction commits.

KIP-98, KIP-447 member and generation (v3), KIP-890: the partition of the group's coordinator is in
the transaction, which is looked up, or from version 5 on brought about.
Not here: who may commit, and where it is stored (coordinators/groups).
"""

from typing import Final

from snakka.apis.cluster import OFFSETS_TOPIC
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.apis.transaction_verification import Vouching, vouch
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.transactions.initializing import Producer
from snakka.metadata.image import Topics
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_KNOWS_LOADING_FROM: Final = 2

# The client is not to look for its group's coordinator anew where the transaction's is missing.
_VOUCHING: Final = Vouching(
    first_of_v2=5, knows_abortable_from=4, come_again=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
)


@api(ApiKey.TXN_OFFSET_COMMIT)
async def txn_offset_commit(
    request: TxnOffsetCommitRequest, context: RequestContext
) -> TxnOffsetCommitResponse:
    known = _known_topics(request, context.image.topics)
    codes: dict[TopicPartition, int] = {}
    if known:
        codes = await _commit(_replace_topics(request, known), context)
    return TxnOffsetCommitResponse(
        throttle_time_ms=0,
        topics=[_topic_response(topic, codes, context.version) for topic in request.topics],
    )


def _known_topics(
    request: TxnOffsetCommitRequest, topics: Topics
) -> list[TxnOffsetCommitRequestTopic]:
    known = []
    for asked in request.topics:
        topic = topics.find(asked.name)
        partitions = () if topic is None else topic.partitions
        there = [each for each in asked.partitions if each.partition_index in partitions]
        if there:
            known.append(TxnOffsetCommitRequestTopic(name=asked.name, partitions=there))
    return known


def _replace_topics(
    request: TxnOffsetCommitRequest, topics: list[TxnOffsetCommitRequestTopic]
) -> TxnOffsetCommitRequest:
    return TxnOffsetCommitRequest(
        transactional_id=request.transactional_id,
        group_id=request.group_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        topics=topics,
    )


async def _commit(
    request: TxnOffsetCommitRequest, context: RequestContext
) -> dict[TopicPartition, int]:
    code = await _verify(request, context)
    if code is not ErrorCode.NONE:
        return {
            TopicPartition(topic.name, each.partition_index): code
            for topic in request.topics
            for each in topic.partitions
        }
    committed = await context.services.groups.commit_offsets_in_transaction(request, context.client)
    return {
        TopicPartition(topic.name, each.partition_index): each.error_code
        for topic in committed.topics
        for each in topic.partitions
    }


async def _verify(request: TxnOffsetCommitRequest, context: RequestContext) -> ErrorCode:
    where = TopicPartition(OFFSETS_TOPIC, context.services.groups.partition_of(request.group_id))
    replica = context.replicas.find(*where)
    if replica is None:
        return ErrorCode.NONE  # the group is not coordinated here, as its coordinator will say
    producer = Producer(request.producer_id, request.producer_epoch)
    needed = [replica.find_verification_of(*producer)]
    if needed == [None]:
        return ErrorCode.NONE
    codes = await vouch(
        request.transactional_id,
        producer,
        {where},
        context,
        _VOUCHING,
        begin_again=lambda: needed.append(replica.find_verification_of(*producer)),
    )
    if needed[-1] is not None:
        needed[-1].is_confirmed = codes[where] is ErrorCode.NONE
    return codes[where]


def _topic_response(
    asked: TxnOffsetCommitRequestTopic, codes: dict[TopicPartition, int], version: int
) -> TxnOffsetCommitResponseTopic:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions = []
    for each in asked.partitions:
        code = codes.get(TopicPartition(asked.name, each.partition_index), unknown)
        if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < _KNOWS_LOADING_FROM:
            code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        partitions.append(
            TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
        )
    return TxnOffsetCommitResponseTopic(name=asked.name, partitions=partitions)
