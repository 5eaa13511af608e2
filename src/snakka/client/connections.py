"""Connections by address: dialled when first asked over, and again after they were lost.

Many may ask at once, and one dial serves them all. After a failed dial the next one waits,
exponentially longer, so that a node that is gone is not hammered. Requests of different lanes
travel on different connections: answers of one connection come in order, and a long poll would
hold up what is asked after it.

Not here: which node is where (cluster.py). A broker that knows its peers by address uses this.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from types import TracebackType
from typing import Final, TypeVar

from snakka.client.address import Address
from snakka.client.backoff import Backoff
from snakka.client.connection import Connection
from snakka.client.errors import ClientError, UnreachableError
from snakka.client.settings import DEFAULT_SETTINGS, ClientSettings
from snakka.protocol.schema import Request, Response

_R = TypeVar("_R", bound=Response)

_CLOSE_TIMEOUT_S: Final = 5.0


@dataclass(slots=True)
class _Link:
    """An address, and how well it could be reached of late."""

    connection: Connection | None = None
    dialling: asyncio.Task[Connection] | None = None
    failures: int = 0
    dial_at_s: float = 0.0


class Connections:
    """An async context manager: all connections are closed after it."""

    def __init__(
        self, settings: ClientSettings = DEFAULT_SETTINGS, rng: Random | None = None
    ) -> None:
        self._settings = settings
        self._rng = rng or Random()
        self._backoff = Backoff(settings.reconnect_backoff_ms, settings.reconnect_backoff_max_ms)
        self._links: dict[tuple[Address, str], _Link] = {}
        self._is_closed = False

    async def __aenter__(self) -> "Connections":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_closed = True
        dialling = [link.dialling for link in self._links.values() if link.dialling is not None]
        for task in dialling:
            task.cancel()
        await asyncio.gather(*dialling, return_exceptions=True)
        for link in self._links.values():
            if link.connection is not None:
                link.connection.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                for link in self._links.values():
                    if link.connection is not None:
                        await link.connection.wait_closed()

    async def ask(
        self,
        address: Address,
        request: Request,
        response: type[_R],
        *,
        version: int | None = None,
        timeout_ms: int | None = None,
        lane: str = "",
    ) -> _R:
        """The answer of the node at an address; UnreachableError where there is none."""
        connection = await self.connect(address, lane)
        return await connection.ask(request, response, version=version, timeout_ms=timeout_ms)

    async def connect(self, address: Address, lane: str = "") -> Connection:
        """The open connection to an address."""
        if self._is_closed:
            raise UnreachableError(f"{address}: the client is closed")
        connection = self.find(address, lane)
        if connection is not None:
            return connection
        link = self._links.setdefault((address, lane), _Link())
        if link.dialling is None:
            link.dialling = asyncio.get_running_loop().create_task(self._dial(address, link))
        try:
            return await asyncio.shield(link.dialling)
        except asyncio.CancelledError:
            if self._is_closed:
                raise UnreachableError(f"{address}: the client is closed") from None
            raise

    def find(self, address: Address, lane: str = "") -> Connection | None:
        """The connection to an address, if it is open."""
        link = self._links.get((address, lane))
        is_open = link is not None and link.connection is not None and link.connection.is_open
        return link.connection if link is not None and is_open else None

    def by_health(self, addresses: Iterable[Address]) -> list[Address]:
        """Those that answered last time first, and in no order among equals."""
        shuffled = list(addresses)
        self._rng.shuffle(shuffled)
        return sorted(shuffled, key=self._failures)

    def _failures(self, address: Address) -> int:
        link = self._links.get((address, ""))
        return 0 if link is None else link.failures

    async def _dial(self, address: Address, link: _Link) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(max(0, link.dial_at_s - loop.time()))
            link.connection = await Connection.open(address, self._settings)
        except ClientError:
            link.failures += 1
            delay_ms = self._backoff.delay_ms(link.failures, self._rng)
            link.dial_at_s = loop.time() + delay_ms / 1000
            raise
        finally:
            link.dialling = None
        link.failures = 0
        return link.connection
