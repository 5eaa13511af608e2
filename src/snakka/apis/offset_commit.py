"""OffsetCommit (key 8): store a group's positions.

KIP-211, KIP-345, KIP-848 member epochs (v9), KIP-516 topic ids (v10). Positions are kept by the
topic's name; partitions that are not there are refused one by one, and the others kept.
Not here: who may commit, and where it is stored (coordinators/groups).
"""

from collections.abc import Iterator

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.metadata.image import Topic
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_FIRST_BY_ID = 10


@api(ApiKey.OFFSET_COMMIT)
async def offset_commit(
    request: OffsetCommitRequest, context: RequestContext
) -> OffsetCommitResponse:
    found = [_find(topic, context) for topic in request.topics]
    known = [
        _with_partitions(asked, topic)
        for asked, topic in zip(request.topics, found, strict=True)
        if topic is not None
    ]
    committed = await context.services.groups.commit_offsets(
        _replace_topics(request, known), context.client
    )
    codes = {
        (topic.name, each.partition_index): each.error_code
        for topic in committed.topics
        for each in topic.partitions
    }
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=asked.name,
                topic_id=asked.topic_id,
                partitions=list(_answers(asked, topic, codes, context.version)),
            )
            for asked, topic in zip(request.topics, found, strict=True)
        ]
    )


def _find(asked: OffsetCommitRequestTopic, context: RequestContext) -> Topic | None:
    topics = context.image.topics
    if context.version >= _FIRST_BY_ID:
        return topics.by_id.get(asked.topic_id)
    return topics.find(asked.name)


def _with_partitions(asked: OffsetCommitRequestTopic, topic: Topic) -> OffsetCommitRequestTopic:
    """The topic by its name, and of its partitions those that are there."""
    there = [each for each in asked.partitions if each.partition_index in topic.partitions]
    return OffsetCommitRequestTopic(name=topic.name, topic_id=topic.topic_id, partitions=there)


def _replace_topics(
    request: OffsetCommitRequest, topics: list[OffsetCommitRequestTopic]
) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=request.group_id,
        generation_id_or_member_epoch=request.generation_id_or_member_epoch,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        retention_time_ms=request.retention_time_ms,
        topics=topics,
    )


def _answers(
    asked: OffsetCommitRequestTopic,
    topic: Topic | None,
    codes: dict[tuple[str, int], int],
    version: int,
) -> Iterator[OffsetCommitResponsePartition]:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic is None and version >= _FIRST_BY_ID:
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    for each in asked.partitions:
        code = unknown if topic is None else codes.get((topic.name, each.partition_index), unknown)
        yield OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
