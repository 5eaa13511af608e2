"""AddRaftVoter (key 80): one more voter in the metadata quorum, which answers (quorum/).

KIP-853.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import node_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse


@node_api(ApiKey.ADD_RAFT_VOTER)
async def add_raft_voter(
    request: AddRaftVoterRequest, context: NodeContext
) -> AddRaftVoterResponse:
    return await context.ask_controller(request, AddRaftVoterResponse)
