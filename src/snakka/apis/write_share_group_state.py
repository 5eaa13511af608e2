"""WriteShareGroupState (key 85): what was delivered and acknowledged of share partitions. KIP-932.

KIP-1226 counts of what is complete (v1). Asked by the partitions' leaders; decided by the share
coordinator (coordinators/share_state).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.apis.share_partitions import by_topic, done, refusal
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.share_state.state import SharePartition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.write_share_group_state import (
    PartitionData,
    PartitionResult,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateResult,
)


@api(ApiKey.WRITE_SHARE_GROUP_STATE)
async def write_share_group_state(
    request: WriteShareGroupStateRequest, context: RequestContext
) -> WriteShareGroupStateResponse:
    states = context.services.share_states

    async def write(where: SharePartition, asked: PartitionData) -> PartitionResult:
        try:
            await states.execute(where, lambda machine, now_ms: machine.write(where, asked, now_ms))
        except CoordinatorError as error:
            return PartitionResult(**refusal(where, error))
        return PartitionResult(**done(where))

    results = await by_topic(request.group_id, request.topics, write)
    return WriteShareGroupStateResponse(
        results=[WriteStateResult(topic_id=each, partitions=found) for each, found in results]
    )
