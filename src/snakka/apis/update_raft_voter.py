"""UpdateRaftVoter (key 82): a voter says where it is now. The quorum answers (quorum/).

KIP-853.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.update_raft_voter import (
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)


@controller_api(ApiKey.UPDATE_RAFT_VOTER)
async def update_raft_voter(
    request: UpdateRaftVoterRequest, context: NodeContext
) -> UpdateRaftVoterResponse:
    return await context.ask_controller(request, UpdateRaftVoterResponse)
