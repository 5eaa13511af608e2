"""The metadata of a node: its replica of the quorum, what follows that, and the controller.

A controller takes its ports first, since the voters have to be told of them, and serves once the
replica is there to answer. A broker that is no controller only follows.
"""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final

from snakka.apis.context import NodeServices
from snakka.apis.dispatch import Dispatcher
from snakka.app.ground import Ground
from snakka.app.listeners import SECURITY_PROTOCOLS, connection_settings, make_gate, make_listener
from snakka.client.connections import Connections
from snakka.client.settings import ClientSettings
from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import Endpoint
from snakka.controller.elect_leaders import balance_leaders, elect_uncleanly
from snakka.controller.mutation_quota import MutationQuotas
from snakka.controller.view import Settings
from snakka.net.listener import Listener
from snakka.node.active_controller import ActiveController, Periodic
from snakka.node.config_rules import NodeConfigRules
from snakka.node.controller_channel import ControllerChannel
from snakka.node.controller_membership import ControllerMembership
from snakka.node.election_file import QUORUM_STATE, read_election
from snakka.node.metadata_follower import MetadataFollower
from snakka.node.metadata_log import METADATA_DIRECTORY, MetadataLog
from snakka.node.quorum_driver import QuorumDriver
from snakka.node.quorum_peers import QuorumPeers
from snakka.node.snapshot_files import SnapshotFiles
from snakka.node.snapshotting import SnapshotConfig, Snapshotting
from snakka.protocol.messages.controller_registration import Listener as RegisteredListener
from snakka.protocol.schema import Listeners
from snakka.protocol.types import random_uuid
from snakka.quorum.config import QuorumConfig
from snakka.quorum.peers import Node as QuorumNode
from snakka.quorum.quorum import LocalReplica, Quorum
from snakka.quorum.replica import QuorumReplica
from snakka.quorum.voters import Endpoint as QuorumEndpoint
from snakka.quorum.voters import ReplicaKey, Voter, VoterSet
from snakka.storage.config import LogConfig

_BOOTSTRAP_ID: Final = -2  # of the first bootstrap server; the others are below

log = logging.getLogger(__name__)


class MetadataPart:
    """The parts of a node that know the cluster, as they are put together."""

    def __init__(self, ground: Ground, follower: MetadataFollower) -> None:
        self._ground = ground
        self._config = ground.config
        self._follower = follower
        self._listeners: list[tuple[Endpoint, Listener]] = []
        self._controller = self._make_controller() if ground.is_controller else None
        self._connections = self._make_connections()
        self.driver: QuorumDriver

    async def bind(self, stack: AsyncExitStack) -> None:
        """Takes the controller's ports."""
        for endpoint in self._ground.endpoints.controller_listeners:
            listener = make_listener(self._config, endpoint)
            self._listeners.append((endpoint, await stack.enter_async_context(listener)))

    async def run(self, stack: AsyncExitStack) -> None:
        """Takes part in the quorum, or follows it."""
        await stack.enter_async_context(self._connections)
        self.driver = await stack.enter_async_context(self._running_quorum())
        if self._controller is not None:
            await self._serve(self._controller)
            membership = self._make_membership()
            self._follower.subscribe(membership.publish)
            await stack.enter_async_context(membership.running())

    @property
    def controller_port(self) -> int:
        """The port of the first controller listener, of a node that is a controller."""
        return self._listeners[0][1].port

    def channel(self, lane: str, timeout_ms: int | None = None) -> ControllerChannel:
        """A way to the active controller, which shares its connection with its lane only."""
        return ControllerChannel(
            lambda: self.driver,
            self._controller,
            self._connections,
            node_id=self._config.node_id,
            lane=lane,
            timeout_ms=timeout_ms or self._config.get_int("request.timeout.ms"),
        )

    async def _serve(self, controller: ActiveController) -> None:
        services = NodeServices(
            cluster_id=self._ground.identity.cluster_id,
            config=self._config,
            listeners=Listeners.CONTROLLER,
            find_image=lambda: self._follower.image,
            find_quorum=lambda: self.driver.facts,
            controller=controller,
            now_ms=self._ground.now_ms,
        )
        gate = make_gate(self._config)
        serve = Dispatcher(services).serve
        for endpoint, listener in self._listeners:
            await listener.serve(connection_settings(self._config, endpoint, gate, serve))

    def _advertised(self) -> list[Endpoint]:
        """Where this controller is reached, with the ports that were taken."""
        ports = {endpoint.listener: listener.port for endpoint, listener in self._listeners}
        return [
            replace(each, host=each.host or "localhost", port=each.port or ports[each.listener])
            for each in self._ground.endpoints.advertised_to_nodes
        ]

    def _make_connections(self) -> Connections:
        prefix = "controller.quorum."
        settings = ClientSettings(
            client_id=f"snakka-{self._config.node_id}",
            socket_connection_setup_timeout_ms=self._config.get_int(f"{prefix}request.timeout.ms"),
            reconnect_backoff_ms=self._config.get_int(f"{prefix}retry.backoff.ms"),
        )
        return Connections(settings, self._ground.rng)

    def _make_controller(self) -> ActiveController:
        config = self._config
        settings = Settings(
            cluster_id=self._ground.identity.cluster_id,
            node_id=config.node_id,
            default_partitions=config.get_int("num.partitions"),
            default_replication_factor=config.get_int("default.replication.factor"),
        )
        return ActiveController(
            settings,
            NodeConfigRules(config),
            lambda: self._follower.image,
            session_timeout_ms=config.get_int("broker.session.timeout.ms"),
            now_ms=self._ground.now_ms,
            rng=self._ground.rng,
            mutation_quotas=MutationQuotas(_quota_burst_s(config)),
            first_records=self._ground.first_records,
            periodic=tuple(_periodic(config)),
        )

    def _make_membership(self) -> ControllerMembership:
        listeners = [
            RegisteredListener(
                name=each.listener,
                host=each.host,
                port=each.port,
                security_protocol=SECURITY_PROTOCOLS[each.protocol],
            )
            for each in self._advertised()
        ]
        incarnation_id = random_uuid(self._ground.rng)
        channel = self.channel("registration")
        return ControllerMembership(self._config.node_id, incarnation_id, listeners, channel)

    @asynccontextmanager
    async def _running_quorum(self) -> AsyncIterator[QuorumDriver]:
        ground, follower = self._ground, self._follower
        directory = f"{ground.directory}/{METADATA_DIRECTORY}"
        snapshots = SnapshotFiles(ground.disk, directory)
        metadata_log, opened = MetadataLog.open(
            ground.files,
            directory,
            _log_config(self._config),
            ground.rng,
            snapshots=snapshots.ids,
            now_ms=ground.now_ms,
        )
        opened.log.on_failure = lambda error: ground.stop(f"{directory} has failed: {error}")
        for damage in opened.damages:
            log.error("the metadata log: %s", damage)
        election_path = f"{directory}/{QUORUM_STATE}"
        quorum_config = _quorum_config(self._config)
        quorum = Quorum(
            local=self._local_replica(),
            config=quorum_config,
            log=metadata_log,
            snapshots=snapshots,
            rng=ground.rng,
            election=read_election(ground.disk, election_path),
        )
        replica = QuorumReplica(quorum, ground.now_ms())
        controller = self._controller
        driver = QuorumDriver(
            replica,
            metadata_log,
            snapshots,
            ground.disk,
            election_path,
            send=QuorumPeers(self._connections, quorum_config.request_timeout_ms).send,
            now_ms=ground.now_ms,
            on_committed=follower.on_committed,
            on_snapshot=follower.on_snapshot,
            on_leadership=_nobody if controller is None else controller.on_leadership,
        )
        if controller is not None:
            controller.quorum = driver
        snapshotting = Snapshotting(
            follower,
            replica,
            metadata_log,
            snapshots,
            SnapshotConfig.of(self._config),
            ground.now_ms,
        )
        async with driver, snapshotting.running():
            yield driver

    def _local_replica(self) -> LocalReplica:
        config = self._config
        name = config.get_list("controller.listener.names")[0]
        servers = enumerate(config.get_list("controller.quorum.bootstrap.servers"))
        voters = (_static_voter(each, name) for each in config.get_list("controller.quorum.voters"))
        return LocalReplica(
            self._ground.identity.cluster_id,
            ReplicaKey(config.node_id, self._ground.identity.directory_id),
            name,
            tuple(
                QuorumEndpoint(each.listener, each.host, each.port) for each in self._advertised()
            ),
            bootstrap_servers=tuple(
                QuorumNode(_BOOTSTRAP_ID - index, *_host_and_port(each)) for index, each in servers
            ),
            static_voters=VoterSet.of(voters),
            is_controller=self._ground.is_controller,
        )


def _quota_burst_s(config: BrokerConfig) -> float:
    prefix = "controller.quota.window."
    return config.get_int(f"{prefix}num") * config.get_int(f"{prefix}size.seconds")


def _periodic(config: BrokerConfig) -> Iterator[Periodic]:
    """What the active controller does from time to time."""
    if config.get_bool("auto.leader.rebalance.enable"):
        interval_ms = config.get_int("leader.imbalance.check.interval.seconds") * 1000
        yield Periodic(interval_ms, balance_leaders)
    yield Periodic(config.get_int("unclean.leader.election.interval.ms"), elect_uncleanly)


def _nobody(epoch: int | None) -> None:
    """A broker leads no quorum."""


def _log_config(config: BrokerConfig) -> LogConfig:
    segment_bytes = config.find_int("internal.metadata.log.segment.bytes")
    return LogConfig(
        segment_bytes=segment_bytes or config.get_int("metadata.log.segment.bytes"),
        segment_ms=config.get_int("metadata.log.segment.ms"),
        is_deleted=False,  # by its own age or size: it starts where a snapshot ends
    )


def _quorum_config(config: BrokerConfig) -> QuorumConfig:
    prefix = "controller.quorum."
    return QuorumConfig(
        election_timeout_ms=config.get_int(f"{prefix}election.timeout.ms"),
        fetch_timeout_ms=config.get_int(f"{prefix}fetch.timeout.ms"),
        election_backoff_max_ms=config.get_int(f"{prefix}election.backoff.max.ms"),
        request_timeout_ms=config.get_int(f"{prefix}request.timeout.ms"),
        retry_backoff_ms=config.get_int(f"{prefix}retry.backoff.ms"),
        auto_join_enable=config.get_bool(f"{prefix}auto.join.enable"),
        fetch_max_bytes=config.get_int(f"{prefix}fetch.max.bytes"),
        fetch_snapshot_max_bytes=config.get_int(f"{prefix}fetch.snapshot.max.bytes"),
    )


def _static_voter(text: str, listener: str) -> Voter:
    """One of `controller.quorum.voters`: id@host:port."""
    replica_id, _, address = text.partition("@")
    return Voter(ReplicaKey(int(replica_id)), (QuorumEndpoint(listener, *_host_and_port(address)),))


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition("://")[2].rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)
