"""ReadShareGroupState (key 84): where a share group stands in partitions. KIP-932.

Asked by the partitions' leaders, which fence those before them by that; decided by the share
coordinator (coordinators/share_state).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.apis.share_partitions import by_topic, done, refusal
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.share_state.state import SharePartition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.read_share_group_state import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateResult,
    StateBatch,
)


@api(ApiKey.READ_SHARE_GROUP_STATE)
async def read_share_group_state(
    request: ReadShareGroupStateRequest, context: RequestContext
) -> ReadShareGroupStateResponse:
    states = context.services.share_states

    async def read(where: SharePartition, asked: PartitionData) -> PartitionResult:
        try:
            state = await states.execute(
                where, lambda machine, now_ms: machine.read(where, asked.leader_epoch, now_ms)
            )
        except CoordinatorError as error:
            return PartitionResult(
                **refusal(where, error), state_epoch=0, start_offset=0, state_batches=[]
            )
        return PartitionResult(
            **done(where),
            state_epoch=state.state_epoch,
            start_offset=state.start_offset,
            state_batches=[StateBatch(**each._asdict()) for each in state.batches],
        )

    results = await by_topic(request.group_id, request.topics, read)
    return ReadShareGroupStateResponse(
        results=[ReadStateResult(topic_id=each, partitions=found) for each, found in results]
    )
