"""The metadata of a node: its replica of the quorum, what follows that, and the controller."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from snakka.app.ground import Ground
from snakka.config.broker import BrokerConfig
from snakka.controller.view import Settings
from snakka.node.active_controller import ActiveController
from snakka.node.config_rules import NodeConfigRules
from snakka.node.election_file import QUORUM_STATE, read_election
from snakka.node.metadata_follower import MetadataFollower
from snakka.node.metadata_log import METADATA_DIRECTORY, MetadataLog
from snakka.node.quorum_driver import QuorumDriver
from snakka.node.snapshot_files import SnapshotFiles
from snakka.node.snapshotting import SnapshotConfig, Snapshotting
from snakka.quorum.config import QuorumConfig
from snakka.quorum.ports import BOOTSTRAP_SNAPSHOT
from snakka.quorum.quorum import LocalReplica, Quorum
from snakka.quorum.replica import QuorumReplica
from snakka.quorum.voters import ReplicaKey
from snakka.storage.config import LogConfig

log = logging.getLogger(__name__)


def make_controller(ground: Ground, follower: MetadataFollower) -> ActiveController:
    config = ground.config
    settings = Settings(
        cluster_id=ground.identity.cluster_id,
        node_id=config.node_id,
        default_partitions=config.get_int("num.partitions"),
        default_replication_factor=config.get_int("default.replication.factor"),
        quorum_ids=frozenset({config.node_id}),
    )
    return ActiveController(
        settings,
        NodeConfigRules(config),
        lambda: follower.image,
        session_timeout_ms=config.get_int("broker.session.timeout.ms"),
        now_ms=ground.now_ms,
        rng=ground.rng,
        first_records=ground.first_records,
    )


def _log_config(config: BrokerConfig) -> LogConfig:
    segment_bytes = config.find_int("internal.metadata.log.segment.bytes")
    return LogConfig(
        segment_bytes=segment_bytes or config.get_int("metadata.log.segment.bytes"),
        segment_ms=config.get_int("metadata.log.segment.ms"),
        is_deleted=False,  # by its own age or size: it starts where a snapshot ends
    )


@asynccontextmanager
async def running_quorum(
    ground: Ground, follower: MetadataFollower, controller: ActiveController
) -> AsyncIterator[QuorumDriver]:
    """This node's replica takes part inside."""
    directory = f"{ground.directory}/{METADATA_DIRECTORY}"
    election_path = f"{directory}/{QUORUM_STATE}"
    snapshots = SnapshotFiles(ground.disk, directory)
    metadata_log, opened = MetadataLog.open(
        ground.files,
        directory,
        _log_config(ground.config),
        ground.rng,
        starts_after=snapshots.earliest() or BOOTSTRAP_SNAPSHOT,
        now_ms=ground.now_ms,
    )
    for damage in opened.damages:
        log.error("the metadata log: %s", damage)
    local = LocalReplica(
        ground.identity.cluster_id,
        ReplicaKey(ground.config.node_id, ground.identity.directory_id),
        ground.quorum_endpoint.name,
        (ground.quorum_endpoint,),
    )
    quorum = Quorum(
        local=local,
        config=QuorumConfig(),
        log=metadata_log,
        snapshots=snapshots,
        rng=ground.rng,
        election=read_election(ground.disk, election_path),
    )
    replica = QuorumReplica(quorum, ground.now_ms())
    driver = QuorumDriver(
        replica,
        metadata_log,
        snapshots,
        ground.disk,
        election_path,
        now_ms=ground.now_ms,
        on_committed=follower.on_committed,
        on_snapshot=follower.on_snapshot,
        on_leadership=controller.on_leadership,
    )
    controller.quorum = driver
    snapshotting = Snapshotting(
        follower, replica, metadata_log, snapshots, SnapshotConfig.of(ground.config), ground.now_ms
    )
    async with driver, snapshotting.running():
        yield driver
