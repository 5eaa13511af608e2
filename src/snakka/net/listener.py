"""A listener: the socket that clients connect to, and the connections it has accepted.

Connections on which nothing happened for `connections.max.idle.ms` are closed.
Not here: who may connect (gate.py), what a connection does (connection.py).
"""

import asyncio
from types import TracebackType
from typing import Final

from snakka.net.connection import Connection, ConnectionSettings

_SWEEPS_PER_IDLE_TIME: Final = 4
_CLOSE_TIMEOUT_S: Final = 5.0
_CLOSE_POLL_S: Final = 0.01
_BACKLOG: Final = 4096


class Listener:
    """An async context manager: the port is taken inside, all connections are closed after it.

    Nobody can connect before `serve`: what answers may need to know the port first.
    """

    def __init__(self, host: str, port: int, *, idle_ms_max: int) -> None:
        self._address = (host, port)
        self._settings: ConnectionSettings
        self._idle_s_max = idle_ms_max / 1000
        self._connections: set[Connection] = set()

    async def __aenter__(self) -> "Listener":
        loop = asyncio.get_running_loop()
        host, port = self._address
        self._server = await loop.create_server(
            self._accept, host or None, port, backlog=_BACKLOG, start_serving=False
        )
        self._sweeper = loop.create_task(self._close_idle())
        return self

    async def serve(self, connections: ConnectionSettings) -> None:
        """Accepts connections from now on."""
        self._settings = connections
        await self._server.start_serving()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops listening, lets what is under way be answered, and then closes."""
        self._sweeper.cancel()
        self._server.close()
        for connection in list(self._connections):
            connection.close()
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + _CLOSE_TIMEOUT_S
        while self._connections and loop.time() < deadline_s:
            await asyncio.sleep(_CLOSE_POLL_S)
        for connection in list(self._connections):
            connection.abort()
        await self._server.wait_closed()

    @property
    def port(self) -> int:
        """The port that was bound, where port 0 was asked for."""
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def _accept(self) -> Connection:
        connections = self._connections
        return Connection(self._settings, on_made=connections.add, on_lost=connections.discard)

    async def _close_idle(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._idle_s_max / _SWEEPS_PER_IDLE_TIME)
            oldest_s = loop.time() - self._idle_s_max
            for connection in list(self._connections):
                if connection.is_idle and connection.last_active_s < oldest_s:
                    connection.abort()  # an answer that was not read in that time, too
