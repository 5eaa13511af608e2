"""OffsetFetch (key 9): read a group's stored positions.

KIP-709 many groups at once (v8), KIP-848 member epochs (v9), KIP-516 topic ids (v10). Positions are
kept by the topic's name, and told by its id where that is asked for.
"""

from typing import Final

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.metadata.image import MetadataImage
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

_FIRST_BY_ID: Final = 10
_NO_OFFSET: Final = -1


@api(ApiKey.OFFSET_FETCH)
async def offset_fetch(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    groups = context.services.groups
    if context.version < _FIRST_BY_ID:
        return await groups.fetch_offsets(request, context.client)
    image = context.image
    named = OffsetFetchRequest(
        groups=[_named(each, image) for each in request.groups],
        require_stable=request.require_stable,
    )
    response = await groups.fetch_offsets(named, context.client)
    return OffsetFetchResponse(
        groups=[
            _identified(asked, found, image)
            for asked, found in zip(request.groups, response.groups, strict=True)
        ]
    )


def _named(group: OffsetFetchRequestGroup, image: MetadataImage) -> OffsetFetchRequestGroup:
    """The same group, its topics by name; those that are not there are left out."""
    topics = None
    if group.topics is not None:
        found = ((each, image.topics.by_id.get(each.topic_id)) for each in group.topics)
        topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=each.partition_indexes)
            for each, topic in found
            if topic is not None
        ]
    return OffsetFetchRequestGroup(
        group_id=group.group_id,
        member_id=group.member_id,
        member_epoch=group.member_epoch,
        topics=topics,
    )


def _identified(
    asked: OffsetFetchRequestGroup, found: OffsetFetchResponseGroup, image: MetadataImage
) -> OffsetFetchResponseGroup:
    """The answer with topic ids, and a refusal of each topic that is not there."""
    topics = []
    for each in found.topics:
        topic = image.topics.find(each.name)
        if topic is not None:
            topics.append(
                OffsetFetchResponseTopics(topic_id=topic.topic_id, partitions=each.partitions)
            )
    topics += [
        _refusal(each)
        for each in asked.topics or ()
        if not found.error_code and each.topic_id not in image.topics.by_id
    ]
    return OffsetFetchResponseGroup(
        group_id=found.group_id, topics=topics, error_code=found.error_code
    )


def _refusal(asked: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        topic_id=asked.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(
                partition_index=index,
                committed_offset=_NO_OFFSET,
                metadata="",
                error_code=ErrorCode.UNKNOWN_TOPIC_ID,
            )
            for index in asked.partition_indexes
        ],
    )
