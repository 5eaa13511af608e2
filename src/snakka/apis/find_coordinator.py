"""FindCoordinator (key 10): which broker coordinates a group, a transaction, a share partition.

KIP-699 many keys at once (v4), KIP-932 share partitions (v6). The topic that they are kept in is
made when somebody first asks.
"""

from typing import Final

from snakka.apis.cluster import (
    OFFSETS_TOPIC,
    SHARE_STATE_TOPIC,
    TRANSACTIONS_TOPIC,
    find_broker,
)
from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.coordinators.partitioning import partition_for
from snakka.coordinators.share_state.state import find_share_partition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_SHARE: Final = 2
_TOPICS: Final = {0: OFFSETS_TOPIC, 1: TRANSACTIONS_TOPIC, _SHARE: SHARE_STATE_TOPIC}  # by type
_FIRST_BATCHED: Final = 4
_FIRST_SHARED: Final = 6


@api(ApiKey.FIND_COORDINATOR)
async def find_coordinator(
    request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    keys = request.coordinator_keys if context.version >= _FIRST_BATCHED else [request.key]
    if any(_is_valid(key, request.key_type, context.version) for key in keys):
        wanted = _TOPICS[request.key_type]
        if context.image.topics.find(wanted) is None:
            await context.services.topics.create_missing([wanted])
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
    if not _is_valid(key, key_type, context.version):
        return _refusal(key, ErrorCode.INVALID_REQUEST)
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


def _is_valid(key: str, key_type: int, version: int) -> bool:
    if key_type != _SHARE:
        return key_type in _TOPICS
    return version >= _FIRST_SHARED and find_share_partition(key) is not None


def _refusal(key: str, code: ErrorCode) -> Coordinator:
    return Coordinator(
        key=key, error_code=code, error_message=code.message, node_id=-1, host="", port=-1
    )
