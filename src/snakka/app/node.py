"""A node: the parts that its roles ask for, entered in order and left in the reverse."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from snakka.app.broker import BrokerPart
from snakka.app.ground import THE_WORLD, Ground, StartError, Surroundings
from snakka.app.metadata import make_controller, running_quorum
from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import InvalidEndpointError
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


@asynccontextmanager
async def running_node(
    config: BrokerConfig, surroundings: Surroundings = THE_WORLD
) -> AsyncIterator[Node]:
    """A node that serves clients while the context lasts; StartError where it cannot."""
    async with AsyncExitStack() as stack:
        _check_is_one_node(config)
        try:
            os.makedirs(config.log_directories[0], exist_ok=True)
            stack.enter_context(locked(config.log_directories[0]))
            node = await _build(Ground.of(config, surroundings), stack)
        except (*_CANNOT_START, OSError) as error:
            raise StartError(str(error)) from error
        yield node


def _check_is_one_node(config: BrokerConfig) -> None:
    """Refuses what this version would otherwise pass over in silence."""
    if set(config.get_list("process.roles")) != {"broker", "controller"}:
        raise StartError("process.roles: this version serves broker,controller in one node only")
    if len(config.log_directories) > 1:
        raise StartError("log.dirs: this version keeps its logs in one directory only")
    voters = config.find_list("controller.quorum.voters") or ()
    if len(voters) > 1:
        raise StartError("controller.quorum.voters: this version is a quorum of one only")


async def _build(ground: Ground, stack: AsyncExitStack) -> Node:
    follower = MetadataFollower()
    controller = make_controller(ground, follower)
    broker = BrokerPart(ground, follower, controller)
    await broker.open(stack)
    await stack.enter_async_context(running_quorum(ground, follower, controller))
    port = await broker.serve(stack)
    host = ground.endpoints.advertised_to_clients[0].host
    return Node(ground.identity.cluster_id, ground.config.node_id, ground.directory, host, port)
