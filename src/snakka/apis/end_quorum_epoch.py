"""EndQuorumEpoch (key 54): a leader steps down. The quorum answers (quorum/epochs.py).

KIP-595, KIP-853.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse


@controller_api(ApiKey.END_QUORUM_EPOCH)
async def end_quorum_epoch(
    request: EndQuorumEpochRequest, context: NodeContext
) -> EndQuorumEpochResponse:
    return await context.ask_controller(request, EndQuorumEpochResponse)
