"""DescribeTopicPartitions (key 75): partitions of topics, page by page. KIP-966.

Topics come in the order of their names; a page ends at the limit of partitions, and the cursor says
where the next one begins.
"""

from collections.abc import Iterator
from typing import Final

from snakka.apis.authorization import ON_TOPIC
from snakka.apis.cluster import INTERNAL_TOPICS
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.metadata.image import MetadataImage, Topic
from snakka.metadata.partition import NO_LEADER, Partition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from snakka.protocol.types import ZERO_UUID

_LIMIT_KEY: Final = "max.request.partition.size.limit"


@api(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
async def describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    image = context.image
    left = min(request.response_partition_limit, context.services.config.get_int(_LIMIT_KEY))
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    for name, first in _wanted(request, image):
        topic = image.topics.find(name)
        if topic is None:
            topics.append(_unknown(name))
            continue
        indexes = [index for index in sorted(topic.partitions) if index >= first]
        page = indexes[:left]
        if page:
            topics.append(_topic(topic, page, image))
        left -= len(page)
        if len(page) < len(indexes):
            cursor = Cursor(topic_name=name, partition_index=indexes[len(page)])
            return _response(topics, cursor)
    return _response(topics, None)


def _wanted(
    request: DescribeTopicPartitionsRequest, image: MetadataImage
) -> Iterator[tuple[str, int]]:
    """The topics that are still to be told, each with the partition to begin at."""
    asked = {topic.name for topic in request.topics} or set(image.topics.ids)
    cursor = request.cursor
    for name in sorted(asked):
        if cursor is None or name > cursor.topic_name:
            yield name, 0
        elif name == cursor.topic_name:
            yield name, cursor.partition_index


def _response(
    topics: list[DescribeTopicPartitionsResponseTopic], cursor: Cursor | None
) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=topics, next_cursor=cursor)


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        name=name,
        topic_id=ZERO_UUID,
        partitions=[],
        topic_authorized_operations=ON_TOPIC,
    )


def _topic(
    topic: Topic, indexes: list[int], image: MetadataImage
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[_partition(index, topic.partitions[index], image) for index in indexes],
        topic_authorized_operations=ON_TOPIC,
    )


def _partition(
    index: int, partition: Partition, image: MetadataImage
) -> DescribeTopicPartitionsResponsePartition:
    is_led = partition.leader != NO_LEADER
    return DescribeTopicPartitionsResponsePartition(
        error_code=ErrorCode.NONE if is_led else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        eligible_leader_replicas=list(partition.elr),
        last_known_elr=list(partition.last_known_elr),
        offline_replicas=[each for each in partition.replicas if not image.is_active(each)],
    )
