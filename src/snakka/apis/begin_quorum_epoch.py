"""BeginQuorumEpoch (key 53): a new leader shows itself. The quorum answers (quorum/epochs.py).

KIP-595, KIP-853.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)


@controller_api(ApiKey.BEGIN_QUORUM_EPOCH)
async def begin_quorum_epoch(
    request: BeginQuorumEpochRequest, context: NodeContext
) -> BeginQuorumEpochResponse:
    return await context.ask_controller(request, BeginQuorumEpochResponse)
