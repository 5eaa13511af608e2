"""Nodes that answer as a test says, over real sockets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

from snakka.client.address import Address
from snakka.client.settings import ClientSettings
from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.frames import read_request, write_response
from snakka.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from snakka.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from snakka.protocol.schema import Request, Response
from snakka.protocol.types import Buffer, Uuid

# None closes the connection; bytes go out as they are.
Answer: TypeAlias = Response | bytes | None
Script: TypeAlias = Callable[[Any], Answer | Awaitable[Answer]]

QUICK = ClientSettings(
    request_timeout_ms=30_000,
    default_api_timeout_ms=30_000,
    reconnect_backoff_ms=1,
    reconnect_backoff_max_ms=4,
    retry_backoff_ms=1,
    retry_backoff_max_ms=4,
)


class FakeNode:
    """Answers requests by their type; what was asked is in `asked`."""

    def __init__(self, scripts: Mapping[type[Request], Script] | None = None) -> None:
        self.scripts = dict(scripts or {})
        self.scripts.setdefault(ApiVersionsRequest, lambda _: all_versions())
        self.asked: list[Request] = []
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.address = Address("127.0.0.1", self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        self._server.close()
        self.drop()
        await self._server.wait_closed()

    def drop(self) -> None:
        """Cuts all connections."""
        for writer in self._writers:
            writer.transport.abort()

    def count(self, request: type[Request]) -> int:
        return sum(isinstance(each, request) for each in self.asked)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._answer_next(reader, writer):
                    pass
        finally:
            writer.close()
            self._writers.discard(writer)

    async def _answer_next(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        size = int.from_bytes(await reader.readexactly(4))
        header, request = read_request(await reader.readexactly(size))
        self.asked.append(request)
        answer = self.scripts[type(request)](request)
        if isinstance(answer, Awaitable):
            answer = await answer
        if answer is None:
            return False
        if isinstance(answer, bytes):
            writer.write(answer)
        else:
            version = header.request_api_version
            chunks = write_response(answer, version, correlation_id=header.correlation_id)
            for chunk in chunks:
                assert isinstance(chunk, Buffer)
                writer.write(chunk)
        return True


async def silence(_: Request) -> Answer:
    """Never answers."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError


def all_versions(**versions: int) -> ApiVersionsResponse:
    """All that is declared; `versions` gives the last one of some."""
    declared = [(key, request_type(key).VERSIONS) for key in ApiKey]
    return ApiVersionsResponse(
        error_code=0,
        api_keys=[
            ApiVersion(
                api_key=key,
                min_version=min(each.first, versions.get(key.name, each.first)),
                max_version=versions.get(key.name, each.last),
            )
            for key, each in declared
        ],
    )


def metadata_of(
    *nodes: FakeNode, leaders: Mapping[str, list[int]] | None = None, epoch: int = 1
) -> MetadataResponse:
    """A cluster of these nodes, numbered from 0; of each topic the leaders of its partitions."""
    return MetadataResponse(
        cluster_id="fake",
        controller_id=0,
        brokers=[
            MetadataResponseBroker(node_id=index, host=each.address.host, port=each.address.port)
            for index, each in enumerate(nodes)
        ],
        topics=[
            MetadataResponseTopic(
                error_code=0,
                name=name,
                topic_id=topic_id(name),
                partitions=[
                    MetadataResponsePartition(
                        error_code=0 if leader >= 0 else 5,
                        partition_index=index,
                        leader_id=leader,
                        leader_epoch=epoch,
                        replica_nodes=[0],
                        isr_nodes=[0],
                        offline_replicas=[],
                    )
                    for index, leader in enumerate(partitions)
                ],
            )
            for name, partitions in (leaders or {}).items()
        ],
    )


def topic_id(name: str) -> Uuid:
    return Uuid(name.encode().ljust(16, b"\0")[:16])


def serves_metadata(*nodes: FakeNode, leaders: Mapping[str, list[int]]) -> None:
    """All of `nodes` tell of each other and of the asked ones among these topics."""

    def answer(request: MetadataRequest) -> MetadataResponse:
        names = [each.name for each in request.topics or ()]
        wanted = {name: each for name, each in leaders.items() if name in names}
        return metadata_of(*nodes, leaders=wanted)

    for node in nodes:
        node.scripts[MetadataRequest] = answer


@asynccontextmanager
async def serving(*nodes: FakeNode) -> AsyncIterator[None]:
    for node in nodes:
        await node.start()
    try:
        yield
    finally:
        for node in nodes:
            await node.stop()


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 60))
