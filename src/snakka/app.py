"""The composition root: builds a node from its leaves to its listeners, and takes it apart again.

Entered in this order and left in the reverse: logs, the metadata quorum with its controller, the
replicas that follow it, the coordinators, membership in the cluster, and last the listener.
"""

import asyncio
import logging
import os
import random
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from snakka.apis.cluster import OFFSETS_TOPIC
from snakka.apis.context import Services, Volume
from snakka.apis.dispatch import Dispatcher
from snakka.config.broker import BrokerConfig
from snakka.config.endpoints import (
    Endpoint,
    InvalidEndpointError,
    SecurityProtocol,
    endpoints,
)
from snakka.config.topic import TopicConfig
from snakka.controller.view import Settings
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.settings import GroupSettings
from snakka.coordinators.hosted import HostSettings
from snakka.coordinators.timers import LoopTimers
from snakka.net.connection import ConnectionSettings
from snakka.net.gate import ConnectionLimits, Gate
from snakka.net.inbox import BufferPool
from snakka.net.listener import Listener
from snakka.node.active_controller import ActiveController
from snakka.node.chores import Chores, cleaner_config, upkeep_config
from snakka.node.config_rules import NodeConfigRules
from snakka.node.coordinating import GroupPartitions
from snakka.node.directory_lock import DirectoryInUseError, locked
from snakka.node.election_file import QUORUM_STATE, read_election
from snakka.node.formatting import Identity, NotFormattedError, open_or_format
from snakka.node.group_topics import ImageTopics
from snakka.node.hosting import Hosting
from snakka.node.membership import Membership, Registration, RegistrationError
from snakka.node.metadata_follower import MetadataFollower
from snakka.node.metadata_log import METADATA_DIRECTORY, MetadataLog
from snakka.node.producer_ids import ProducerIdBlocks
from snakka.node.quorum_driver import QuorumDriver
from snakka.node.snapshot_files import SnapshotFiles
from snakka.node.topic_creation import TopicCreator
from snakka.node.topic_settings import log_config
from snakka.protocol.messages.broker_registration import Listener as AdvertisedListener
from snakka.protocol.schema import Listeners
from snakka.protocol.types import random_uuid
from snakka.quorum.config import QuorumConfig
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT
from snakka.quorum.quorum import LocalReplica, Quorum
from snakka.quorum.replica import QuorumReplica
from snakka.quorum.voters import Endpoint as QuorumEndpoint
from snakka.quorum.voters import ReplicaKey
from snakka.replication.replicas import Replicas
from snakka.storage.config import LogConfig
from snakka.storage.disk import Disk, LocalDisk
from snakka.storage.errors import CorruptFileError
from snakka.storage.group_commit import GroupCommit
from snakka.storage.log_directory import LogDirectory, OpenedDirectory
from snakka.storage.open_files import OpenFiles

_CANNOT_START: Final = (
    CorruptFileError,
    DirectoryInUseError,
    InvalidEndpointError,
    NotFormattedError,
    RegistrationError,
)
_SECURITY_PROTOCOLS: Final = {each: number for number, each in enumerate(SecurityProtocol)}
_METADATA_LOG: Final = LogConfig(segment_ms=2**62, retention_ms=-1, is_deleted=False)
_REQUESTS_IN_FLIGHT_MAX: Final = 64
_SHUTDOWN_TIMEOUT_MS: Final = 30_000
_MINUTE_MS: Final = 60_000
_SYNC_THREADS: Final = 4

log = logging.getLogger(__name__)


class StartError(Exception):
    """Why a node cannot start, in one line."""


@dataclass(frozen=True, slots=True)
class Node:
    """What a running node tells whoever started it."""

    cluster_id: str
    node_id: int
    directory: str
    host: str
    port: int


@asynccontextmanager
async def running_node(config: BrokerConfig) -> AsyncIterator[Node]:
    """A node that serves clients while the context lasts; StartError where it cannot."""
    async with AsyncExitStack() as stack:
        _check_is_one_node(config)
        try:
            os.makedirs(config.log_directories[0], exist_ok=True)
            stack.enter_context(locked(config.log_directories[0]))
            node = await _Builder(config).build(stack)
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


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class _Builder:
    """The parts of one node, as they are put together."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._rng = random.Random(os.urandom(16))
        self._disk: Disk = LocalDisk()
        self._files = OpenFiles(self._disk)
        self._directory = os.path.abspath(config.log_directories[0])
        self._endpoints = endpoints(config)
        controller = self._endpoints.controller_listeners[0]
        self._quorum_endpoint = QuorumEndpoint(
            controller.listener, controller.host, controller.port
        )
        self._identity: Identity = open_or_format(
            self._disk,
            self._directory,
            config.node_id,
            self._quorum_endpoint,
            rng=self._rng,
            now_ms=_now_ms(),
        )
        self._replicas = Replicas()
        self._follower = MetadataFollower(_now_ms)
        self._controller = self._make_controller()
        self._membership: Membership | None = None

    async def build(self, stack: AsyncExitStack) -> Node:
        timers = LoopTimers(_now_ms())
        opened = await asyncio.to_thread(self._open_logs)
        stack.callback(lambda: opened.directory.shut_down(self._broker_epoch()))
        disk_thread = stack.enter_context(ThreadPoolExecutor(1, "log-directory"))
        groups = await stack.enter_async_context(self._make_groups(timers))
        hosting = Hosting(
            self._config.node_id,
            self._config,
            self._replicas,
            opened.directory,
            [GroupPartitions(groups, timers)],
            disk_thread,
            now_ms=_now_ms,
            rng=self._rng,
        )
        self._follower.subscribe(hosting.publish)
        await stack.enter_async_context(hosting.running())
        chores = Chores(
            opened.directory,
            self._disk,
            disk_thread,
            upkeep_config(self._config),
            cleaner_config(self._config),
            now_ms=_now_ms,
        )
        await stack.enter_async_context(chores.running())
        await stack.enter_async_context(self._make_quorum())
        sync_threads = stack.enter_context(ThreadPoolExecutor(_SYNC_THREADS, "sync"))
        group_commit = GroupCommit(self._disk, sync_threads)
        listener = await stack.enter_async_context(
            self._make_listener(groups, hosting, group_commit)
        )
        self._membership = self._make_membership(opened, listener.port)
        await stack.enter_async_context(self._membership)
        await hosting.settled()
        await groups.loaded()
        host = self._endpoints.advertised_to_clients[0].host
        return Node(
            self._identity.cluster_id, self._config.node_id, self._directory, host, listener.port
        )

    def _broker_epoch(self) -> int:
        return -1 if self._membership is None else self._membership.broker_epoch

    def _open_logs(self) -> OpenedDirectory:
        """All logs of the directory; what had to be mended is told."""
        broker = TopicConfig(self._config, {})
        opened = LogDirectory.open(
            self._files,
            self._directory,
            self._rng,
            lambda _: log_config(broker, self._config),
            now_ms=_now_ms(),
        )
        for partition, each in opened.opened.items():
            for damage in each.damages:
                log.error("%s: %s", partition, damage)
        return opened

    def _make_controller(self) -> ActiveController:
        settings = Settings(
            cluster_id=self._identity.cluster_id,
            node_id=self._config.node_id,
            default_partitions=self._config.get_int("num.partitions"),
            default_replication_factor=self._config.get_int("default.replication.factor"),
            quorum_ids=frozenset({self._config.node_id}),
        )
        return ActiveController(
            settings,
            NodeConfigRules(self._config),
            lambda: self._follower.image,
            session_timeout_ms=self._config.get_int("broker.session.timeout.ms"),
            now_ms=_now_ms,
            rng=self._rng,
        )

    def _make_quorum(self) -> QuorumDriver:
        directory = f"{self._directory}/{METADATA_DIRECTORY}"
        election_path = f"{directory}/{QUORUM_STATE}"
        snapshots = SnapshotFiles(self._disk, directory)
        metadata_log, opened = MetadataLog.open(
            self._files,
            directory,
            _METADATA_LOG,
            self._rng,
            starts_after=snapshots.earliest() or BOOTSTRAP_SNAPSHOT,
            now_ms=_now_ms,
        )
        for damage in opened.damages:
            log.error("the metadata log: %s", damage)
        local = LocalReplica(
            self._identity.cluster_id,
            ReplicaKey(self._config.node_id, self._identity.directory_id),
            self._quorum_endpoint.name,
            (self._quorum_endpoint,),
        )
        quorum = Quorum(
            local=local,
            config=QuorumConfig(),
            log=metadata_log,
            snapshots=snapshots,
            rng=self._rng,
            election=read_election(self._disk, election_path),
        )
        driver = QuorumDriver(
            QuorumReplica(quorum, _now_ms()),
            metadata_log,
            self._disk,
            election_path,
            now_ms=_now_ms,
            on_committed=self._follower.on_committed,
            on_leadership=self._controller.on_leadership,
        )
        self._controller.quorum = driver
        return driver

    def _make_groups(self, timers: LoopTimers) -> Groups:
        config = self._config
        settings = GroupSettings(
            initial_rebalance_delay_ms=config.get_int("group.initial.rebalance.delay.ms"),
            min_session_timeout_ms=config.get_int("group.min.session.timeout.ms"),
            max_session_timeout_ms=config.get_int("group.max.session.timeout.ms"),
            max_size=config.get_int("group.max.size"),
            offset_metadata_max_bytes=config.get_int("offset.metadata.max.bytes"),
            offsets_retention_ms=config.get_int("offsets.retention.minutes") * _MINUTE_MS,
            offsets_retention_check_interval_ms=config.get_int(
                "offsets.retention.check.interval.ms"
            ),
        )
        topics = ImageTopics(lambda: self._follower.image)
        count = self._count_group_partitions
        return Groups(settings, HostSettings(), count, timers, self._rng, topics)

    def _count_group_partitions(self) -> int:
        topic = self._follower.image.topics.find(OFFSETS_TOPIC)
        if topic is None:
            return self._config.get_int("offsets.topic.num.partitions")
        return len(topic.partitions)

    def _make_listener(
        self, groups: Groups, hosting: Hosting, group_commit: GroupCommit
    ) -> Listener:
        endpoint, *rest = self._endpoints.broker_listeners
        if rest or endpoint.protocol is not SecurityProtocol.PLAINTEXT:
            raise StartError("this version serves one listener, and that in PLAINTEXT")
        services = Services(
            cluster_id=self._identity.cluster_id,
            config=self._config,
            listeners=Listeners.BROKER,
            replicas=self._replicas,
            group_commit=group_commit,
            checkpoint=hosting.checkpoint,
            find_volume=self._find_volume,
            find_image=lambda: self._follower.image,
            controller=self._controller,
            topics=TopicCreator(self._config, self._controller, hosting.settled),
            producer_ids=ProducerIdBlocks(
                self._config.node_id, self._controller, self._broker_epoch
            ),
            groups=groups,
            now_ms=_now_ms,
        )
        connections = ConnectionSettings(
            listener=endpoint.listener,
            serve=Dispatcher(services).serve,
            gate=Gate(self._connection_limits()),
            pool=BufferPool(),
            frame_bytes_max=self._config.get_int("socket.request.max.bytes"),
            requests_in_flight_max=_REQUESTS_IN_FLIGHT_MAX,
        )
        return Listener(
            endpoint.host,
            endpoint.port,
            connections,
            idle_ms_max=self._config.get_int("connections.max.idle.ms"),
        )

    def _find_volume(self) -> Volume:
        status = os.statvfs(self._directory)
        return Volume(
            self._directory,
            status.f_blocks * status.f_frsize,
            status.f_bavail * status.f_frsize,
        )

    def _connection_limits(self) -> ConnectionLimits:
        config = self._config
        pairs = (each.rpartition(":") for each in _override_list(config))
        return ConnectionLimits(
            total_max=config.get_int("max.connections"),
            per_host_max=config.get_int("max.connections.per.ip"),
            per_host_overrides={host: int(limit) for host, _, limit in pairs},
        )

    def _make_membership(self, opened: OpenedDirectory, port: int) -> Membership:
        config = self._config
        registration = Registration(
            broker_id=config.node_id,
            cluster_id=self._identity.cluster_id,
            incarnation_id=random_uuid(self._rng),
            listeners=[_advertised(each, port) for each in self._endpoints.advertised_to_clients],
            rack=config.find_text("broker.rack"),
            log_dirs=[self._identity.directory_id],
            previous_broker_epoch=-1 if opened.broker_epoch is None else opened.broker_epoch,
            heartbeat_interval_ms=config.get_int("broker.heartbeat.interval.ms"),
            shutdown_timeout_ms=_SHUTDOWN_TIMEOUT_MS,
        )
        return Membership(registration, self._controller, lambda: self._follower.applied_offset)


def _advertised(endpoint: Endpoint, bound_port: int) -> AdvertisedListener:
    return AdvertisedListener(
        name=endpoint.listener,
        host=endpoint.host,
        port=endpoint.port or bound_port,
        security_protocol=_SECURITY_PROTOCOLS[endpoint.protocol],
    )


def _override_list(config: BrokerConfig) -> list[str]:
    text = config.get_text("max.connections.per.ip.overrides")
    return [each.strip() for each in text.split(",") if each.strip()]
