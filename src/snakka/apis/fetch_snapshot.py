"""FetchSnapshot (key 59): a part of a metadata snapshot. The quorum answers (quorum/).

KIP-630, KIP-853.
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse


@controller_api(ApiKey.FETCH_SNAPSHOT)
async def fetch_snapshot(
    request: FetchSnapshotRequest, context: NodeContext
) -> FetchSnapshotResponse:
    return await context.ask_controller(request, FetchSnapshotResponse)
