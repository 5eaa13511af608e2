"""The way to the active controller, wherever it is: here, or on the leader of the quorum.

Whatever goes wrong is tried again with whoever leads by then, until it takes too long: leadership
moves, connections break, nodes restart. What a client asked for travels in an Envelope (KIP-590).

Not here: what a controller answers (active_controller.py).
"""

import asyncio
import ipaddress
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar, cast

from snakka.apis.context import ANONYMOUS, Controller, Sender
from snakka.apis.forwarding import FORWARDED
from snakka.client.address import Address
from snakka.client.connections import Connections
from snakka.client.errors import ClientError, UnsupportedRequestError
from snakka.controller.decision import RefusedError
from snakka.node.quorum_driver import QuorumDriver
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.frames import SIZE_BYTES, read_response, write_request
from snakka.protocol.internal.frames import write_versioned
from snakka.protocol.internal.principal import DefaultPrincipalData
from snakka.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from snakka.protocol.schema import Request, Response
from snakka.protocol.types import Buffer
from snakka.quorum.peers import Node

_A = TypeVar("_A", bound=Response)
_T = TypeVar("_T")

_RETRY_MS: Final = 20
_RETRY_MS_MAX: Final = 500
_PRINCIPAL: Final = write_versioned(
    DefaultPrincipalData(type="User", name=ANONYMOUS, token_authenticated=False), 0
)


class ControllerChannel:
    """The port of apis/context.py, for the broker of a node and the node itself."""

    def __init__(
        self,
        find_driver: Callable[[], QuorumDriver],
        local: Controller | None,
        connections: Connections,
        *,
        node_id: int,
        lane: str,
        timeout_ms: int,
    ) -> None:
        self._find_driver = find_driver
        self._local = local
        self._connections = connections
        self._node_id = node_id
        self._lane = lane
        self._timeout_ms = timeout_ms

    async def ask(
        self, request: Request, version: int, response: type[_A], sender: Sender | None = None
    ) -> _A:
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + self._timeout_ms / 1000
        retry_ms = _RETRY_MS
        while True:
            try:
                answer = await self._ask_leader(request, version, response, sender)
                if getattr(answer, "error_code", None) != ErrorCode.NOT_CONTROLLER:
                    return answer
            except UnsupportedRequestError:
                raise RefusedError(ErrorCode.UNSUPPORTED_VERSION) from None
            except ClientError:
                pass
            except RefusedError as refused:
                if refused.code is not ErrorCode.NOT_CONTROLLER:
                    raise
            left_s = deadline_s - loop.time()
            if left_s <= 0:
                raise RefusedError(ErrorCode.REQUEST_TIMED_OUT)
            await asyncio.sleep(min(left_s, retry_ms / 1000))
            retry_ms = min(2 * retry_ms, _RETRY_MS_MAX)

    async def _ask_leader(
        self, request: Request, version: int, response: type[_A], sender: Sender | None
    ) -> _A:
        leader = self._find_driver().find_leader()
        if leader is None:
            raise RefusedError(ErrorCode.NOT_CONTROLLER)
        if leader.id == self._node_id and self._local is not None:
            return await self._local.ask(request, version, response, sender)
        if sender is not None and request.KEY in FORWARDED:
            return await self._forward(leader, request, version, response, sender)
        return await self._send(leader, request, response)

    async def _send(self, leader: Node, request: Request, response: type[_A]) -> _A:
        address = Address(leader.host, leader.port)
        asking = self._connections.ask(
            address, request, response, timeout_ms=self._timeout_ms, lane=self._lane
        )
        return await self._while_it_leads(asking)

    async def _forward(
        self, leader: Node, request: Request, version: int, response: type[_A], sender: Sender
    ) -> _A:
        chunks = write_request(request, version, correlation_id=0, client_id=sender.client_id)
        wrapped = EnvelopeRequest(
            request_data=b"".join(cast(list[Buffer], chunks))[SIZE_BYTES:],
            request_principal=_PRINCIPAL,
            client_host_address=_packed(sender.host),
        )
        answer = await self._send(leader, wrapped, EnvelopeResponse)
        if answer.error_code or answer.response_data is None:
            raise RefusedError(ErrorCode(answer.error_code))
        return read_response(response, version, answer.response_data)[1]

    async def _while_it_leads(self, asking: Coroutine[Any, Any, _T]) -> _T:
        """Gives up on a leader that is none any more: it may be gone without a word."""
        loop = asyncio.get_running_loop()
        answer = loop.create_task(asking)
        change = loop.create_task(self._find_driver().leader_changed())
        try:
            await asyncio.wait([answer, change], return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise RefusedError(ErrorCode.NOT_CONTROLLER)
            return answer.result()
        finally:
            answer.cancel()
            change.cancel()


def _packed(host: str) -> bytes:
    """An address as Java's InetAddress has it."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).packed
    except ValueError:
        return ipaddress.ip_address("127.0.0.1").packed
