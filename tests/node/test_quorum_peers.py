"""The quorum's requests to other nodes."""

import asyncio
import socket
from typing import Any

import pytest

from snakka.client.connections import Connections
from snakka.client.errors import UnreachableError
from snakka.client.settings import ClientSettings
from snakka.node.quorum_peers import QuorumPeers
from snakka.protocol.messages.vote import VoteRequest
from snakka.quorum.peers import Node
from snakka.quorum.ready import Outbound

SETTINGS = ClientSettings(reconnect_backoff_ms=1, reconnect_backoff_max_ms=1)


def test_a_name_is_resolved_anew_at_each_dial(  # pitfall 27
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve = socket.getaddrinfo
    addresses = ["127.0.0.2", "127.0.0.3"]
    asked: list[str] = []

    def moving(host: Any, port: Any, *rest: Any, **named: Any) -> Any:
        if host != "voter.example":
            return resolve(host, port, *rest, **named)
        asked.append(addresses[min(len(asked), 1)])
        return resolve(asked[-1], port, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", moving)

    async def scenario() -> None:
        dialled = asyncio.Event()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            dialled.set()
            writer.close()

        server = await asyncio.start_server(accept, "127.0.0.3", 0)
        port = server.sockets[0].getsockname()[1]
        outbound = Outbound(Node(2, "voter.example", port), 1, VoteRequest(topics=[]))
        async with server, Connections(SETTINGS) as connections:
            peers = QuorumPeers(connections, request_timeout_ms=1_000)
            for _ in range(2):
                with pytest.raises(UnreachableError):
                    await peers.send(outbound)
        assert asked == addresses
        assert dialled.is_set()  # the second time, where the voter is by now

    asyncio.run(scenario())
