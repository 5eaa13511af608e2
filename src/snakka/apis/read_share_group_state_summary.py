"""ReadShareGroupStateSummary (key 87): where a share group begins in partitions. KIP-932.

KIP-1226 counts of what is complete (v1). Asked by group coordinators; decided by the share
coordinator (coordinators/share_state).
"""

from snakka.apis.context import RequestContext
from snakka.apis.registry import api
from snakka.apis.share_partitions import by_topic, done, refusal
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.share_state.batches import UNKNOWN_OFFSET
from snakka.coordinators.share_state.state import UNKNOWN_COUNT, SharePartition
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.read_share_group_state_summary import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryResult,
)


@api(ApiKey.READ_SHARE_GROUP_STATE_SUMMARY)
async def read_share_group_state_summary(
    request: ReadShareGroupStateSummaryRequest, context: RequestContext
) -> ReadShareGroupStateSummaryResponse:
    states = context.services.share_states

    async def read(where: SharePartition, _: PartitionData) -> PartitionResult:
        try:
            state = await states.execute(where, lambda machine, _: machine.summarize(where))
        except CoordinatorError as error:
            return PartitionResult(
                **refusal(where, error), state_epoch=0, leader_epoch=0, start_offset=0
            )
        if state is None:
            return PartitionResult(
                **done(where),
                state_epoch=0,
                leader_epoch=0,
                start_offset=UNKNOWN_OFFSET,
                delivery_complete_count=UNKNOWN_COUNT,
            )
        return PartitionResult(
            **done(where),
            state_epoch=state.state_epoch,
            leader_epoch=state.leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=state.delivery_complete_count,
        )

    results = await by_topic(request.group_id, request.topics, read)
    return ReadShareGroupStateSummaryResponse(
        results=[ReadStateSummaryResult(topic_id=each, partitions=found) for each, found in results]
    )
