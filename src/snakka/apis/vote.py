"""Vote (key 52): who asks to lead the metadata quorum. The quorum answers (quorum/voting.py).

KIP-595, KIP-853 directory ids (v1), KIP-996 pre-votes (v2).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.vote import VoteRequest, VoteResponse


@controller_api(ApiKey.VOTE)
async def vote(request: VoteRequest, context: NodeContext) -> VoteResponse:
    return await context.ask_controller(request, VoteResponse)
