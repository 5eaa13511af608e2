"""Metadata (key 3): brokers, topics, partitions and their leaders.

KIP-4 automatic creation of topics, KIP-430 authorized operations (v8), KIP-516 topic ids (v10,
v12). A topic that is asked for and may be created is answered for once it is there.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

from snakka.apis.authorization import NOT_REQUESTED, ON_CLUSTER, ON_TOPIC
from snakka.apis.cluster import INTERNAL_TOPICS, find_broker, find_forwarder, reachable_brokers
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.metadata.image import MetadataImage, Topic
from snakka.metadata.partition import Partition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.frames import EncodedResponse, encode_response
from snakka.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from snakka.protocol.types import ZERO_UUID

_NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class _View:
    """What an answer says alike of all partitions, found out once."""

    reachable: frozenset[int]  # brokers that have the client's listener
    active: frozenset[int]
    operations: int


@api(ApiKey.METADATA)
async def metadata(request: MetadataRequest, context: RequestContext) -> EncodedResponse:
    if request.topics and request.allow_auto_topic_creation:
        await _create_missing(request.topics, context)
    question, kept = _question(request, context), context.services.described
    answer = kept.find(question, context.image)
    if answer is None:
        answer = encode_response(_response(request, context), context.version)
        kept.keep(question, answer)
    return answer


def _question(request: MetadataRequest, context: RequestContext) -> Hashable:
    """All that the answer depends on but the image."""
    topics = request.topics
    return (
        context.version,
        context.peer.listener,
        request.include_cluster_authorized_operations,
        request.include_topic_authorized_operations,
        None if topics is None else tuple((each.topic_id, each.name) for each in topics),
    )


def _response(request: MetadataRequest, context: RequestContext) -> MetadataResponse:
    image, listener = context.image, context.peer.listener
    return MetadataResponse(
        throttle_time_ms=0,
        brokers=[
            MetadataResponseBroker(
                node_id=each.broker_id, host=each.host, port=each.port, rack=each.rack
            )
            for each in reachable_brokers(image, listener)
        ],
        cluster_id=context.services.cluster_id,
        controller_id=find_forwarder(image, context.services.config.node_id),
        topics=_topics(request, context),
        cluster_authorized_operations=(
            ON_CLUSTER if request.include_cluster_authorized_operations else NOT_REQUESTED
        ),
    )


async def _create_missing(topics: Iterable[MetadataRequestTopic], context: RequestContext) -> None:
    missing = [
        topic.name
        for topic in topics
        if topic.name and context.image.topics.find(topic.name) is None
    ]
    if missing:
        await context.services.topics.create_missing(missing)


def _topics(request: MetadataRequest, context: RequestContext) -> list[MetadataResponseTopic]:
    image, listener = context.image, context.peer.listener
    view = _View(
        reachable=frozenset(each for each in image.brokers if find_broker(image, each, listener)),
        active=frozenset(each for each in image.brokers if image.is_active(each)),
        operations=ON_TOPIC if request.include_topic_authorized_operations else NOT_REQUESTED,
    )
    is_everything = request.topics is None or (context.version == 0 and not request.topics)
    if is_everything:
        return [_topic(each, view) for each in image.topics.by_id.values()]
    return [_asked(each, image, view) for each in request.topics or ()]


def _asked(asked: MetadataRequestTopic, image: MetadataImage, view: _View) -> MetadataResponseTopic:
    if asked.name is not None and asked.topic_id == ZERO_UUID:
        found = image.topics.find(asked.name)
        if found is None:
            return _refusal(asked, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return _topic(found, view)
    found = image.topics.by_id.get(asked.topic_id)
    if found is None:
        return _refusal(asked, ErrorCode.UNKNOWN_TOPIC_ID)
    return _topic(found, view)


def _refusal(asked: MetadataRequestTopic, code: ErrorCode) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=code, name=asked.name, topic_id=asked.topic_id, partitions=[]
    )


def _topic(topic: Topic, view: _View) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            _partition(index, partition, view)
            for index, partition in sorted(topic.partitions.items())
        ],
        topic_authorized_operations=view.operations,
    )


def _partition(index: int, partition: Partition, view: _View) -> MetadataResponsePartition:
    error = ErrorCode.NONE
    if partition.leader < 0:
        error = ErrorCode.LEADER_NOT_AVAILABLE
    elif partition.leader not in view.reachable:
        error = ErrorCode.LISTENER_NOT_FOUND
    return MetadataResponsePartition(
        error_code=error,
        partition_index=index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        offline_replicas=[each for each in partition.replicas if each not in view.active],
    )
