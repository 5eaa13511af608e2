"""What all parts of a node stand on: configuration, disk, identity, time and chance."""

import os
import random
import time
from dataclasses import dataclass

from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import Endpoints, endpoints
from snakka.node.formatting import Identity, open_or_format
from snakka.quorum.voters import Endpoint as QuorumEndpoint
from snakka.storage.disk import Disk, LocalDisk
from snakka.storage.open_files import OpenFiles


class StartError(Exception):
    """Why a node cannot start, in one line."""


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Ground:
    """Who this node is, and where it keeps what it has."""

    config: BrokerConfig
    endpoints: Endpoints
    identity: Identity
    directory: str
    quorum_endpoint: QuorumEndpoint
    disk: Disk
    files: OpenFiles
    rng: random.Random

    @classmethod
    def of(cls, config: BrokerConfig) -> "Ground":
        """Opens the directory, which is formatted where it is fresh."""
        rng = random.Random(os.urandom(16))
        disk = LocalDisk()
        directory = os.path.abspath(config.log_directories[0])
        found = endpoints(config)
        controller = found.controller_listeners[0]
        endpoint = QuorumEndpoint(controller.listener, controller.host, controller.port)
        identity = open_or_format(
            disk, directory, config.node_id, endpoint, rng=rng, now_ms=now_ms()
        )
        return cls(config, found, identity, directory, endpoint, disk, OpenFiles(disk), rng)
