"""Fetch (key 1) on a controller: the metadata log, to its voters and observers.

KIP-595, KIP-853. The quorum answers (quorum/serving.py). Not here: what brokers serve (fetch.py).
"""

from snakka.apis.context import NodeContext
from snakka.apis.registry import controller_api
from snakka.protocol.api_keys import ApiKey
from snakka.protocol.messages.fetch import FetchRequest, FetchResponse


@controller_api(ApiKey.FETCH)
async def fetch_metadata(request: FetchRequest, context: NodeContext) -> FetchResponse:
    return await context.ask_controller(request, FetchResponse)
