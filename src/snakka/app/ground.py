"""What all parts of a node stand on: configuration, disk, identity, time and chance."""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import Endpoints, endpoints
from snakka.net.connection import Serve
from snakka.node.formatting import Identity, open_or_format
from snakka.quorum.voters import Endpoint as QuorumEndpoint
from snakka.storage.disk import Disk, LocalDisk
from snakka.storage.open_files import OpenFiles


class StartError(Exception):
    """Why a node cannot start, in one line."""


def _wall_now_ms() -> int:
    return time.time_ns() // 1_000_000


def _as_it_is(serve: Serve) -> Serve:
    return serve


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a node is given by whoever hosts it: the time, and a say in how requests are served."""

    now_ms: Callable[[], int] = _wall_now_ms
    around: Callable[[Serve], Serve] = _as_it_is


THE_WORLD: Final = Surroundings()


@dataclass(frozen=True, slots=True)
class Ground:
    """Who this node is, and where it keeps what it has."""

    config: BrokerConfig
    surroundings: Surroundings
    endpoints: Endpoints
    identity: Identity
    directory: str
    quorum_endpoint: QuorumEndpoint
    disk: Disk
    files: OpenFiles
    rng: random.Random

    @classmethod
    def of(cls, config: BrokerConfig, surroundings: Surroundings) -> "Ground":
        """Opens the directory, which is formatted where it is fresh."""
        rng = random.Random(os.urandom(16))
        disk = LocalDisk()
        directory = os.path.abspath(config.log_directories[0])
        found = endpoints(config)
        controller = found.controller_listeners[0]
        endpoint = QuorumEndpoint(controller.listener, controller.host, controller.port)
        identity = open_or_format(
            disk, directory, config.node_id, endpoint, rng=rng, now_ms=surroundings.now_ms()
        )
        files = OpenFiles(disk)
        return cls(config, surroundings, found, identity, directory, endpoint, disk, files, rng)

    def now_ms(self) -> int:
        return self.surroundings.now_ms()
