"""One outbound connection: requests out, their answers in, matched by correlation id.

Requests are sent in the order in which they were begun and may be under way together. An answer is
a view of the buffer that it was received into, which is never written again: records of a Fetch
stay views of it for as long as somebody looks. A request without an answer in time ends the
connection, since all later answers would wait behind it.

`ask` needs no current task, so a handler may ask before its first wait.

Not here: which node to ask, dialling again (connections.py), what an answer means.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from snakka.client.address import Address
from snakka.client.errors import (
    ClientError,
    RequestTimedOutError,
    UnreachableError,
    UnsupportedRequestError,
)
from snakka.client.settings import DEFAULT_SETTINGS, ClientSettings
from snakka.client.versions import (
    OLDEST,
    NegotiatedVersions,
    api_versions_request,
    is_version_refusal,
)
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.errors import MalformedError, UnencodableError
from snakka.protocol.frames import read_response, write_request
from snakka.protocol.inbox import BufferPool, Inbox
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.schema import Request, Response
from snakka.protocol.types import Buffer

_R = TypeVar("_R", bound=Response)

_CORRELATION_ID: Final = slice(0, 4)
_CORRELATION_IDS: Final = 1 << 31


@dataclass(slots=True)
class _Waiting:
    """A request that is under way."""

    response: type[Response]
    version: int
    answer: asyncio.Future[Any]
    timer: asyncio.TimerHandle


class Connection(asyncio.BufferedProtocol):
    """Made by `open`; closed once its `close` was called, or by whatever goes wrong."""

    def __init__(self, address: Address, settings: ClientSettings) -> None:
        self.address = address
        self._settings = settings
        # The pool gets nothing back: what was received may still be looked at. A broker is trusted
        # with the size of its answers, since growing to one of 8 MiB costs as much as reading it.
        frame_bytes_max = settings.receive_message_max_bytes
        self._inbox = Inbox(BufferPool(), frame_bytes_max, trusted_bytes=frame_bytes_max)
        self._waiting: dict[int, _Waiting] = {}
        self._next_correlation_id = 0
        self._failure: ClientError | None = None
        self._versions: NegotiatedVersions | None = None
        self._loop = asyncio.get_running_loop()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_gone = asyncio.Event()
        self._transport: asyncio.Transport

    @classmethod
    async def open(
        cls, address: Address, settings: ClientSettings = DEFAULT_SETTINGS
    ) -> "Connection":
        """Connects, and asks what the node serves."""
        loop = asyncio.get_running_loop()
        timeout_s = settings.socket_connection_setup_timeout_ms / 1000
        try:
            async with asyncio.timeout(timeout_s):
                # The name is looked up here: a node may come back under another address.
                _, connection = await loop.create_connection(
                    lambda: cls(address, settings), address.host, address.port
                )
        except TimeoutError:
            raise UnreachableError(f"{address}: no connection within {timeout_s:g} s") from None
        except OSError as error:
            raise UnreachableError(f"{address}: {_reason(error)}") from error
        await connection._negotiate()
        return connection

    @property
    def is_open(self) -> bool:
        return self._failure is None

    def highest_version(self, request: type[Request]) -> int:
        """The version in which `ask` would send a request."""
        assert self._versions is not None
        return self._versions.highest(request)

    @property
    def features(self) -> Mapping[str, int]:
        """The finalized level of each feature (KIP-584)."""
        assert self._versions is not None
        return self._versions.features

    async def ask(
        self,
        request: Request,
        response: type[_R],
        *,
        version: int | None = None,
        timeout_ms: int | None = None,
    ) -> _R:
        """The answer to a request, in the highest version that both sides know."""
        answer: _R = await self._begin(request, response, version, timeout_ms)
        return answer

    async def tell(self, request: Request, *, version: int | None = None) -> None:
        """Sends what has no answer, Produce with acks=0; returns when more may be sent."""
        self._send(request, self._version(request, version))
        await self._may_write.wait()

    def close(self) -> None:
        """Ends the connection; whoever waits for an answer is told."""
        self._fail(UnreachableError(f"{self.address}: the connection was closed"), is_abrupt=False)

    async def wait_closed(self) -> None:
        """Returns once everything that was sent is out, and the socket is closed."""
        await self._is_gone.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by class

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._inbox.space()

    def buffer_updated(self, nbytes: int) -> None:
        self._inbox.received(nbytes)
        try:
            while (frame := self._inbox.take_frame()) is not None:
                self._receive(frame)
        except MalformedError as error:
            self._fail(UnreachableError(f"{self.address} sent {error}"))

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._may_write.set()
        self._is_gone.set()
        reason = exc or "the other side closed it"
        self._fail(UnreachableError(f"{self.address}: the connection was lost: {reason}"))

    async def _negotiate(self) -> None:
        try:
            answer = await self._begin(
                api_versions_request(), ApiVersionsResponse, ApiVersionsRequest.VERSIONS.last, None
            )
            if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
                version = _version_after_refusal(answer)
                answer = await self._begin(
                    api_versions_request(), ApiVersionsResponse, version, None
                )
            if answer.error_code:
                raise UnsupportedRequestError(
                    f"{self.address} tells no versions: {ErrorCode(answer.error_code).name}"
                )
        except BaseException:
            self.close()
            raise
        self._versions = NegotiatedVersions(answer)

    def _version(self, request: Request, wanted: int | None) -> int:
        return self.highest_version(type(request)) if wanted is None else wanted

    def _begin(
        self, request: Request, response: type[_R], version: int | None, timeout_ms: int | None
    ) -> "asyncio.Future[_R]":
        spoken = self._version(request, version)
        correlation_id = self._send(request, spoken)
        answer: asyncio.Future[_R] = self._loop.create_future()
        limit_s = (timeout_ms or self._settings.request_timeout_ms) / 1000
        timer = self._loop.call_later(limit_s, self._time_out, type(request).__name__, limit_s)
        self._waiting[correlation_id] = _Waiting(response, spoken, answer, timer)
        return answer

    def _send(self, request: Request, version: int) -> int:
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args)
        correlation_id = self._next_correlation_id
        try:
            chunks = write_request(
                request, version, correlation_id=correlation_id, client_id=self._settings.client_id
            )
        except UnencodableError as error:
            raise UnsupportedRequestError(
                f"{self.address}: version {version} is spoken, which cannot carry {error}"
            ) from error
        self._next_correlation_id = (correlation_id + 1) % _CORRELATION_IDS
        self._transport.writelines(cast(list[Buffer], chunks))
        return correlation_id

    def _receive(self, frame: memoryview) -> None:
        correlation_id = int.from_bytes(frame[_CORRELATION_ID])
        waiting = self._waiting.pop(correlation_id, None)
        if waiting is None:
            raise MalformedError("response", 0, f"answers no request: {correlation_id}")
        waiting.timer.cancel()
        version = waiting.version
        if waiting.response is ApiVersionsResponse and is_version_refusal(frame):
            version = OLDEST
        try:
            _, answer = read_response(waiting.response, version, frame)
        except MalformedError:
            self._waiting[correlation_id] = waiting  # fails with the others
            raise
        if not waiting.answer.done():
            waiting.answer.set_result(answer)

    def _time_out(self, request: str, limit_s: float) -> None:
        self._fail(
            RequestTimedOutError(f"{self.address}: no answer to {request} within {limit_s:g} s")
        )

    def _fail(self, error: ClientError, *, is_abrupt: bool = True) -> None:
        if self._failure is not None:
            return
        self._failure = error
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            each.timer.cancel()
            if not each.answer.done():
                each.answer.set_exception(type(error)(*error.args))
        if is_abrupt:
            self._transport.abort()
        else:
            self._transport.close()  # once what was told has been sent


def _reason(error: OSError) -> str:
    """What the system says; asyncio puts other words in its place, resolvers have their own."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error)


def _version_after_refusal(answer: ApiVersionsResponse) -> int:
    """The version of ApiVersions that the node says it serves; the oldest where it does not say."""
    for each in answer.api_keys:
        if each.api_key == ApiVersionsRequest.KEY:
            return min(each.max_version, ApiVersionsRequest.VERSIONS.last)
    return OLDEST
