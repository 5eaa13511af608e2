"""A node: the parts that its roles ask for, entered in order and left in the reverse."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from snakka.app.broker import BrokerPart
from snakka.app.ground import THE_WORLD, Ground, StartError, Surroundings
from snakka.app.metadata import MetadataPart
from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import InvalidEndpointError, SecurityProtocol, endpoints
from snakka.node.directory_lock import DirectoryInUseError, locked
from snakka.node.formatting import NotFormattedError
from snakka.node.membership import RegistrationError
from snakka.node.metadata_follower import MetadataFollower
from snakka.storage.errors import CorruptFileError

_CANNOT_START: Final = (
    CorruptFileError,
    DirectoryInUseError,
    InvalidEndpointError,
    NotFormattedError,
    RegistrationError,
)


@dataclass(frozen=True, slots=True)
class Node:
    """What a running node tells whoever started it."""

    cluster_id: str
    node_id: int
    directory: str
    host: str
    port: int
    is_broker: bool
    failure: "asyncio.Future[str]"  # done when it cannot go on, with the reason


@asynccontextmanager
async def running_node(
    config: BrokerConfig, surroundings: Surroundings = THE_WORLD
) -> AsyncIterator[Node]:
    """A node that serves clients while the context lasts; StartError where it cannot."""
    async with AsyncExitStack() as stack:
        _check_is_served(config)
        try:
            _lock(config, stack)
            node = await _build(Ground.of(config, surroundings), stack)
        except (*_CANNOT_START, OSError) as error:
            raise StartError(str(error)) from error
        yield node


def _lock(config: BrokerConfig, stack: AsyncExitStack) -> None:
    """Keeps other nodes out of all directories; one that cannot be locked has failed."""
    metadata = os.path.realpath(config.metadata_log_directory)
    paths = [os.path.realpath(path) for path in config.log_directories]
    if len(set(paths)) < len(paths):
        raise StartError(f"log.dirs: {', '.join(paths)} are not all different")
    for path in dict.fromkeys([metadata, *paths]):
        try:
            os.makedirs(path, exist_ok=True)
            stack.enter_context(locked(path))
        except OSError:
            if path == metadata:
                raise


def _check_is_served(config: BrokerConfig) -> None:
    """Refuses what this version would otherwise pass over in silence."""
    for each in endpoints(config).listeners:
        if each.protocol is not SecurityProtocol.PLAINTEXT:
            raise StartError(f"listeners: {each}: this version speaks PLAINTEXT only")


async def _build(ground: Ground, stack: AsyncExitStack) -> Node:
    follower = MetadataFollower()
    metadata = MetadataPart(ground, follower)
    broker = BrokerPart(ground, follower, metadata) if ground.is_broker else None
    await metadata.bind(stack)
    if broker is not None:
        await broker.open(stack)
    await metadata.run(stack)
    if broker is None:
        endpoint, port = ground.endpoints.advertised_to_nodes[0], metadata.controller_port
    else:
        port = await broker.serve(stack)
        endpoint = ground.endpoints.advertised_to_clients[0]
    return Node(
        ground.identity.cluster_id,
        ground.config.node_id,
        ground.directory,
        endpoint.host,
        port,
        is_broker=broker is not None,
        failure=ground.failure,
    )
