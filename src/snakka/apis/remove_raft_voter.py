"""RemoveRaftVoter (key 81): one voter less in the metadata quorum, which answers (quorum/).

KIP-853.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)


@node_api(ApiKey.REMOVE_RAFT_VOTER)
async def remove_raft_voter(
    request: RemoveRaftVoterRequest, context: NodeContext
) -> RemoveRaftVoterResponse:
    return await context.ask_controller(request, RemoveRaftVoterResponse)
