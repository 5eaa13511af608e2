"""FindCoordinator (key 10): which broker coordinates a group or a transactional id.

KIP-699 many keys at once (v4). The topic that they are kept in is made when somebody first asks.
Not here: share partitions, whose coordinator is not there yet.
"""

from typing import Final

from snakka.apis.cluster import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, find_broker
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.coordinators.partitioning import partition_for
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_TOPICS: Final = {0: OFFSETS_TOPIC, 1: TRANSACTIONS_TOPIC}  # by type of key
_SHARE: Final = 2
_FIRST_BATCHED: Final = 4


@api(ApiKey.FIND_COORDINATOR)
async def find_coordinator(
    request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    wanted = _TOPICS.get(request.key_type)
    if wanted is not None and context.image.topics.find(wanted) is None:
        await context.services.topics.create_missing([wanted])
    keys = request.coordinator_keys if context.version >= _FIRST_BATCHED else [request.key]
    found = [_find(key, request.key_type, context) for key in keys]
    if context.version >= _FIRST_BATCHED:
        return FindCoordinatorResponse(coordinators=found)
    (only,) = found
    return FindCoordinatorResponse(
        error_code=only.error_code,
        error_message=only.error_message,
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )


def _find(key: str, key_type: int, context: RequestContext) -> Coordinator:
    if key_type not in _TOPICS:
        is_known = key_type == _SHARE
        return _refusal(
            key, ErrorCode.COORDINATOR_NOT_AVAILABLE if is_known else ErrorCode.INVALID_REQUEST
        )
    image = context.image
    topic = image.topics.find(_TOPICS[key_type])
    if topic is None:
        return _refusal(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    partition = topic.partitions[partition_for(key, len(topic.partitions))]
    broker = find_broker(image, partition.leader, context.peer.listener)
    if broker is None or broker.is_fenced:
        return _refusal(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return Coordinator(
        key=key,
        node_id=broker.broker_id,
        host=broker.host,
        port=broker.port,
        error_code=ErrorCode.NONE,
        error_message=None,
    )


def _refusal(key: str, code: ErrorCode) -> Coordinator:
    return Coordinator(
        key=key, error_code=code, error_message=code.message, node_id=-1, host="", port=-1
    )
