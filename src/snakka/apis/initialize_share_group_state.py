"""InitializeShareGroupState (key 83): a share group begins with partitions, or begins anew.

KIP-932. Asked by group coordinators; decided by the share coordinator (coordinators/share_state).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.apis.share_partitions import by_topic, done, refusal
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.share_state.state import SharePartition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionData,
    PartitionResult,
)


@api(ApiKey.INITIALIZE_SHARE_GROUP_STATE)
async def initialize_share_group_state(
    request: InitializeShareGroupStateRequest, context: RequestContext
) -> InitializeShareGroupStateResponse:
    states = context.services.share_states

    async def initialize(where: SharePartition, asked: PartitionData) -> PartitionResult:
        try:
            await states.execute(
                where, lambda machine, now_ms: machine.initialize(where, asked, now_ms)
            )
        except CoordinatorError as error:
            return PartitionResult(**refusal(where, error))
        return PartitionResult(**done(where))

    results = await by_topic(request.group_id, request.topics, initialize)
    return InitializeShareGroupStateResponse(
        results=[InitializeStateResult(topic_id=each, partitions=found) for each, found in results]
    )
