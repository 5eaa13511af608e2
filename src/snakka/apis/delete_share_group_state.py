"""DeleteShareGroupState (key 86): a share group has nothing to do with partitions any more.

KIP-932. Asked by group coordinators; decided by the share coordinator (coordinators/share_state).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.apis.share_partitions import by_topic, done, refusal
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.share_state.state import SharePartition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionData,
    PartitionResult,
)


@api(ApiKey.DELETE_SHARE_GROUP_STATE)
async def delete_share_group_state(
    request: DeleteShareGroupStateRequest, context: RequestContext
) -> DeleteShareGroupStateResponse:
    states = context.services.share_states

    async def delete(where: SharePartition, asked: PartitionData) -> PartitionResult:
        try:
            await states.execute(where, lambda machine, _: machine.delete(where))
        except CoordinatorError as error:
            return PartitionResult(**refusal(where, error))
        return PartitionResult(**done(where))

    results = await by_topic(request.group_id, request.topics, delete)
    return DeleteShareGroupStateResponse(
        results=[DeleteStateResult(topic_id=each, partitions=found) for each, found in results]
    )
