"""The quorum's requests to other nodes, over connections that are dialled when they are needed.

A fetch waits at the leader until there is something to fetch. It has a connection of its own, so
that no vote waits behind it. Names are resolved at each dial: a voter may come back elsewhere.
"""

from typing import Final

from snakka.client.address import Address
from snakka.client.connections import Connections
from snakka.protocol.api_keys import ApiKey, response_type
from snakka.protocol.messages.fetch import FetchRequest
from snakka.protocol.schema import Response
from snakka.quorum.ready import Outbound

_FETCHES: Final = "fetch"
_OTHERS: Final = "quorum"


class QuorumPeers:
    """Where the driver's requests go."""

    def __init__(self, connections: Connections, request_timeout_ms: int) -> None:
        self._connections = connections
        self._request_timeout_ms = request_timeout_ms

    async def send(self, outbound: Outbound) -> Response:
        """The answer of the node; ClientError where there is none."""
        node, request = outbound.node, outbound.message
        return await self._connections.ask(
            Address(node.host, node.port),
            request,
            response_type(ApiKey(request.KEY)),
            timeout_ms=self._request_timeout_ms,
            lane=_FETCHES if isinstance(request, FetchRequest) else _OTHERS,
        )
