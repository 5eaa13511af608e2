"""What all parts of a node stand on: configuration, disk, identity, time and chance."""

import asyncio
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
from snakka.node.ensemble import Ensemble, claim, survey
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
    directory: str  # of the metadata log
    log_dirs: Ensemble
    disk: Disk
    files: OpenFiles
    rng: random.Random
    failure: "asyncio.Future[str]"  # done when this node cannot go on, with the reason

    @classmethod
    def of(cls, config: BrokerConfig, surroundings: Surroundings) -> "Ground":
        """Opens the directories, which are formatted where they are fresh."""
        rng = random.Random(os.urandom(16))
        disk = LocalDisk()
        directory = os.path.abspath(config.metadata_log_directory)
        found = endpoints(config)
        surveyed = survey(disk, [os.path.abspath(path) for path in config.log_directories])
        identity = find_identity(disk, directory, config.node_id)
        if identity is None and surveyed.is_fresh and _is_alone(config):
            controller = found.advertised_to_nodes[0]
            endpoint = QuorumEndpoint(controller.listener, controller.host, controller.port)
            identity = format_alone(
                disk, directory, config.node_id, endpoint, rng=rng, now_ms=surroundings.now_ms()
            )
        if identity is None:
            raise NotFormattedError(
                f"{directory} is not formatted: `snakka format` makes it part of a cluster"
            )
        return cls(
            config,
            surroundings,
            found,
            identity,
            directory,
            claim(disk, surveyed, identity, directory, rng),
            disk,
            OpenFiles(disk),
            rng,
            asyncio.get_running_loop().create_future(),
        )

    def stop(self, reason: str) -> None:
        """Ends this node, which must not write any more."""
        if not self.failure.done():
            self.failure.set_result(reason)

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
