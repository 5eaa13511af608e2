"""The broker of a node: logs, the replicas that follow the metadata, coordinators, membership.

It opens before the metadata is followed, so that it misses no image, and serves after.
"""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Final

from snakka.apis.cluster import OFFSETS_TOPIC, SHARE_STATE_TOPIC, TRANSACTIONS_TOPIC
from snakka.apis.context import Services
from snakka.apis.dispatch import Dispatcher
from snakka.apis.kept_answers import KeptAnswers
from snakka.app.ground import Ground
from snakka.app.internal_topics import partition_count
from snakka.app.listeners import (
    SECURITY_PROTOCOLS,
    connection_limits,
    connection_settings,
    make_gate,
    make_listener,
)
from snakka.app.logs import LogsPart
from snakka.app.metadata import MetadataPart
from snakka.app.share_states import make_share_states
from snakka.app.transactions import make_transactions
from snakka.config.endpoints import Endpoint
from snakka.config.group import GroupConfig
from snakka.coordinators.groups.groups import Groups
from snakka.coordinators.groups.settings import ConsumerSettings, GroupSettings, MigrationPolicy
from snakka.coordinators.hosted import HostSettings
from snakka.coordinators.share_state.share_states import ShareStates
from snakka.coordinators.timers import LoopTimers
from snakka.coordinators.transactions.transactions import Transactions
from snakka.metadata.image import MetadataImage
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.metadata.loader import Published
from snakka.node.coordinating import CoordinatorPartitions
from snakka.node.dynamic_config import DynamicConfig
from snakka.node.group_topics import ImageTopics
from snakka.node.hosting import Hosting
from snakka.node.markers import LocalMarkers
from snakka.node.membership import Membership, Registration
from snakka.node.metadata_follower import MetadataFollower
from snakka.node.producer_ids import ProducerIdBlocks
from snakka.node.share_pruning import SharePruning
from snakka.node.topic_creation import TopicCreator
from snakka.protocol.messages.broker_registration import Listener as AdvertisedListener
from snakka.protocol.schema import Listeners
from snakka.protocol.types import random_uuid
from snakka.replication.fetch_sessions import FetchSessions
from snakka.replication.replicas import Replicas

_SHUTDOWN_TIMEOUT_MS: Final = 30_000
_MINUTE_MS: Final = 60_000


class BrokerPart:
    """The parts of one broker, as they are put together."""

    def __init__(self, ground: Ground, follower: MetadataFollower, metadata: MetadataPart) -> None:
        self._ground = ground
        self._config = ground.config
        self._dynamic = DynamicConfig(ground.config)
        self._follower = follower
        self._metadata = metadata
        self._controller = metadata.channel("forwarding")
        self._replicas = Replicas()
        self._logs = LogsPart(ground, self._dynamic, self._replicas, self._controller)
        self._groups: Groups
        self._markers: LocalMarkers
        self._transactions: Transactions
        self._share_states: ShareStates
        self._hosting: Hosting

    async def open(self, stack: AsyncExitStack) -> None:
        """Everything that follows the metadata, which has to be followed afterwards."""
        timers = LoopTimers(self._ground.now_ms())
        logs = self._logs
        await logs.open(stack)
        self._groups = await stack.enter_async_context(self._make_groups(timers))
        self._markers = LocalMarkers(self._replicas, self._groups, self._ground.now_ms)
        ids = ProducerIdBlocks(self._config.node_id, self._controller, logs.broker_epoch)
        self._transactions = await stack.enter_async_context(
            make_transactions(
                self._config,
                self._image,
                timers,
                ids,
                logs.broker_epoch,
                self._markers,
            )
        )
        self._share_states = await stack.enter_async_context(
            make_share_states(self._config, self._image, timers)
        )
        self._hosting = Hosting(
            self._config.node_id,
            self._dynamic,
            self._replicas,
            logs.directories,
            logs.moves,
            logs.assignments,
            [
                CoordinatorPartitions(OFFSETS_TOPIC, self._groups, timers),
                CoordinatorPartitions(TRANSACTIONS_TOPIC, self._transactions, timers),
                CoordinatorPartitions(SHARE_STATE_TOPIC, self._share_states, timers),
            ],
            logs.disk_thread,
            now_ms=self._ground.now_ms,
        )
        logs.failures.listen(self._hosting.on_directory_failed)
        self._follower.subscribe(self._dynamic.publish)
        self._follower.subscribe(self._hosting.publish)
        self._follower.subscribe(self._forget_deleted)
        await stack.enter_async_context(self._hosting.running())
        pruning = SharePruning(
            self._share_states,
            self._replicas,
            self._hosting.checkpoint,
            self._config.get_int("share.coordinator.state.topic.prune.interval.ms"),
        )
        await stack.enter_async_context(pruning.running())
        await logs.run_chores(stack)

    async def serve(self, stack: AsyncExitStack) -> int:
        """Enters the cluster, and listens; the port that clients connect to.

        In this order: a client that is told of no broker may not ask again for seconds.
        """
        gate = make_gate(self._dynamic.current)
        self._dynamic.follow(lambda changed: gate.reconfigure(connection_limits(changed)))
        serve = self._ground.surroundings.around(Dispatcher(self._services()).serve)
        endpoints = self._ground.endpoints.broker_listeners
        listeners = [
            await stack.enter_async_context(make_listener(self._config, each)) for each in endpoints
        ]
        ports = {each.listener: own.port for each, own in zip(endpoints, listeners, strict=True)}
        self._logs.membership = self._make_membership(ports)
        await stack.enter_async_context(self._logs.membership)
        await self._hosting.settled()
        await self._groups.loaded()
        await self._transactions.loaded()
        await self._share_states.loaded()
        for endpoint, listener in zip(endpoints, listeners, strict=True):
            await listener.serve(connection_settings(self._config, endpoint, gate, serve))
        return listeners[0].port

    def _image(self) -> MetadataImage:
        """The newest one."""
        return self._follower.image

    def _forget_deleted(self, published: Published) -> None:
        removed = published.delta.topics.removed.keys()
        if removed:
            self._share_states.on_topics_deleted(removed)

    async def _prepare(self) -> None:
        """Brings the logs in line with the metadata, now that all of it is known."""
        self._hosting.begin(self._follower.image)
        await self._hosting.settled()

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
            consumer=ConsumerSettings(
                config.get_int("group.consumer.session.timeout.ms"),
                config.get_int("group.consumer.heartbeat.interval.ms"),
            ),
            find_own=self._find_group_settings,
            consumer_max_size=config.get_int("group.consumer.max.size"),
            migration_policy=MigrationPolicy(
                config.get_text("group.consumer.migration.policy").lower()
            ),
            consumer_assignors=config.get_list("group.consumer.assignors"),
        )
        topics = ImageTopics(self._image)
        count = partition_count(config, self._image, OFFSETS_TOPIC, "offsets.topic.num.partitions")
        return Groups(settings, HostSettings(), count, timers, self._ground.rng, topics)

    def _find_group_settings(self, group_id: str) -> ConsumerSettings | None:
        own = self._follower.image.configs_of(ConfigResource(ConfigType.GROUP, group_id))
        if not own:
            return None
        config = GroupConfig(self._dynamic.current, own)
        return ConsumerSettings(
            config.get_int("consumer.session.timeout.ms"),
            config.get_int("consumer.heartbeat.interval.ms"),
        )

    def _services(self) -> Services:
        return Services(
            cluster_id=self._ground.identity.cluster_id,
            config=self._config,
            listeners=Listeners.BROKER,
            replicas=self._replicas,
            fetch_sessions=FetchSessions(
                self._config.get_int("max.incremental.fetch.session.cache.slots"),
                self._ground.rng,
            ),
            group_commit=self._logs.group_commit,
            checkpoint=self._hosting.checkpoint,
            log_dirs=self._logs.log_dirs,
            find_image=self._image,
            find_quorum=lambda: self._metadata.driver.facts,
            controller=self._controller,
            topics=TopicCreator(self._config, self._controller, self._hosting.settled),
            described=KeptAnswers(),
            groups=self._groups,
            transactions=self._transactions,
            transaction_coordinator=self._transactions,
            share_states=self._share_states,
            markers=self._markers,
            verifies_transactions=lambda: self._dynamic.current.get_bool(
                "transaction.partition.verification.enable"
            ),
            now_ms=self._ground.now_ms,
        )

    def _make_membership(self, ports: Mapping[str, int]) -> Membership:
        config = self._config
        directories = self._logs.directories
        registration = Registration(
            broker_id=config.node_id,
            cluster_id=self._ground.identity.cluster_id,
            incarnation_id=random_uuid(self._ground.rng),
            listeners=[
                _advertised(each, ports) for each in self._ground.endpoints.advertised_to_clients
            ],
            rack=config.find_text("broker.rack"),
            log_dirs=[directories.id_of(each) for each in directories],
            previous_broker_epoch=self._logs.previous_epoch,
            heartbeat_interval_ms=config.get_int("broker.heartbeat.interval.ms"),
            registration_timeout_ms=config.get_int("initial.broker.registration.timeout.ms"),
            shutdown_timeout_ms=_SHUTDOWN_TIMEOUT_MS,
            failure_timeout_ms=config.get_int("log.dir.failure.timeout.ms"),
        )
        # A leader that does not answer is given up on while there is time for another one.
        channel = self._metadata.channel(
            "heartbeat", config.get_int("broker.session.timeout.ms") // 2
        )
        return Membership(
            registration,
            channel,
            lambda: self._follower.applied_offset,
            lambda: directories.cordoned_ids,
            prepare=self._prepare,
            stop=self._ground.stop,
        )


def _advertised(endpoint: Endpoint, ports: Mapping[str, int]) -> AdvertisedListener:
    return AdvertisedListener(
        name=endpoint.listener,
        host=endpoint.host,
        port=endpoint.port or ports[endpoint.listener],
        security_protocol=SECURITY_PROTOCOLS[endpoint.protocol],
    )
