"""What all parts of a node stand on: configuration, disk, identity, time and chance."""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import Endpoints, endpoints
from snakka.metadata.bootstrap import bootstrap_records
from snakka.metadata.versions import default_levels
from snakka.net.connection import Serve
from snakka.node.bootstrap_file import read_bootstrap
from snakka.node.formatting import Identity, NotFormattedError, find_identity, format_alone
from snakka.protocol.internal.kinds import MetadataRecord
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
    disk: Disk
    files: OpenFiles
    rng: random.Random

    @classmethod
    def of(cls, config: BrokerConfig, surroundings: Surroundings) -> "Ground":
        """Opens the directory, which is formatted where it is fresh."""
        rng = random.Random(os.urandom(16))
        disk = LocalDisk()
        directory = os.path.abspath(config.metadata_log_directory)
        found = endpoints(config)
        identity = find_identity(disk, directory, config.node_id)
        if identity is None and _is_alone(config):
            controller = found.advertised_to_nodes[0]
            endpoint = QuorumEndpoint(controller.listener, controller.host, controller.port)
            identity = format_alone(
                disk, directory, config.node_id, endpoint, rng=rng, now_ms=surroundings.now_ms()
            )
        if identity is None:
            raise NotFormattedError(
                f"{directory} is not formatted: `snakka format` makes it part of a cluster"
            )
        files = OpenFiles(disk)
        return cls(config, surroundings, found, identity, directory, disk, files, rng)

    @property
    def is_controller(self) -> bool:
        return "controller" in self.config.get_list("process.roles")

    @property
    def is_broker(self) -> bool:
        return "broker" in self.config.get_list("process.roles")

    @property
    def first_records(self) -> list[MetadataRecord]:
        """What the log begins with, if this node is the one to begin it."""
        found = read_bootstrap(self.disk, self.directory)
        return bootstrap_records(default_levels()) if found is None else found

    def now_ms(self) -> int:
        return self.surroundings.now_ms()


def _is_alone(config: BrokerConfig) -> bool:
    """Whether it may be a cluster of its own: one that names others must not begin another."""
    names_others = config.find_list("controller.quorum.voters") or config.find_list(
        "controller.quorum.bootstrap.servers"
    )
    return "controller" in config.get_list("process.roles") and not names_others
