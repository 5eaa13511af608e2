"""Follows the metadata log: which replicas this broker is to have, and what part each plays.

Logs are made and deleted in a thread of their own, in the order in which the metadata log says so;
until a partition's log is there, requests for it are told that it is unknown and come again.

Not here: what a replica does (replication), where its log goes among several directories.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import NamedTuple, Protocol, TypeVar

from snakka.config.topic import TopicConfig
from snakka.metadata.image import EMPTY
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.metadata.loader import Published
from snakka.metadata.local_replicas import TopicPartition as LocalPartition
from snakka.metadata.local_replicas import local_changes
from snakka.metadata.partition import Partition as AssignedPartition
from snakka.node.dynamic_config import DynamicConfig
from snakka.node.topic_settings import log_config, topic_rules
from snakka.protocol.types import format_uuid, random_uuid
from snakka.replication.admission import TopicRules
from snakka.replication.partition import Assignment, Partition
from snakka.replication.replica import Replica
from snakka.replication.replicas import Replicas
from snakka.storage.config import LogConfig
from snakka.storage.identity import write_topic_id
from snakka.storage.log import Log
from snakka.storage.log_directory import LogDirectory
from snakka.storage.names import PARTITION_METADATA, TopicPartition

log = logging.getLogger(__name__)

_T = TypeVar("_T")


class PartitionWatcher(Protocol):
    """Is told of the partitions that this broker leads, and of those it does so no more."""

    def on_led(self, replica: Replica) -> None: ...

    def on_lost(self, topic: str, index: int, leader_epoch: int) -> None: ...


class _Change(NamedTuple):
    """One partition of this broker, as an image has it; None when it is gone."""

    where: LocalPartition
    assigned: AssignedPartition | None

    @property
    def name(self) -> TopicPartition:
        return TopicPartition(self.where.topic, self.where.partition_id)


class Hosting:
    """Brings the replicas in line with the newest image."""

    def __init__(
        self,
        node_id: int,
        config: DynamicConfig,
        replicas: Replicas,
        directory: LogDirectory,
        watchers: list[PartitionWatcher],
        disk_thread: Executor,
        *,
        now_ms: Callable[[], int],
        rng: random.Random,
    ) -> None:
        self._node_id = node_id
        self._config = config
        self._replicas = replicas
        self._directory = directory
        self._watchers = watchers
        self._now_ms = now_ms
        self._rng = rng
        self._changes: asyncio.Queue[_Change] = asyncio.Queue()
        self._disk_thread = disk_thread  # one thread, so that things happen in order
        self._image = EMPTY
        config.follow(lambda _: self._reconfigure(list(replicas)))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Changes are followed inside."""
        task = asyncio.get_running_loop().create_task(self._follow())
        try:
            yield
        finally:
            task.cancel()

    async def settled(self) -> None:
        """Returns once all that was published before has been followed."""
        await self._changes.join()

    async def checkpoint(self) -> None:
        """Writes down where all logs start and how far they are."""
        await self._on_disk(self._directory.checkpoint)

    def publish(self, published: Published) -> None:
        """A new image is in force."""
        delta, image = published
        self._image = image
        local = local_changes(delta, self._node_id)
        for where in local.deleted:
            self._changes.put_nowait(_Change(where, None))
        for where, assigned in (*local.leaders.items(), *local.followers.items()):
            self._changes.put_nowait(_Change(where, assigned))
        changed = {each.name for each in delta.configs.changes if each.type == ConfigType.TOPIC}
        if changed:
            self._reconfigure(each for each in self._replicas if each.topic in changed)

    def _topic_config(self, topic: str) -> TopicConfig:
        configs = self._image.configs_of(ConfigResource.topic(topic))
        return TopicConfig(self._config.current, configs)

    def _reconfigure(self, replicas: Iterable[Replica]) -> None:
        by_topic: dict[str, tuple[LogConfig, TopicRules]] = {}
        for replica in replicas:
            settings = by_topic.get(replica.topic)
            if settings is None:
                config = self._topic_config(replica.topic)
                settings = (log_config(config, self._config.current), topic_rules(config))
                by_topic[replica.topic] = settings
            replica.log.config, replica.rules = settings

    async def _follow(self) -> None:
        while True:
            change = await self._changes.get()
            try:
                await self._apply(change)
            except OSError:
                log.exception("cannot follow the change of %s", change.name)
            finally:
                self._changes.task_done()

    async def _apply(self, change: _Change) -> None:
        if change.assigned is None:
            await self._delete(change)
            return
        replica = self._replicas.find(*change.name)
        if replica is None or replica.topic_id != change.where.topic_id:
            replica = await self._create(change, change.assigned)
        replica.assign(_assignment(change.assigned))
        self._tell(replica)

    def _tell(self, replica: Replica) -> None:
        assignment = replica.partition.assignment
        for watcher in self._watchers:
            if replica.partition.is_leader:
                watcher.on_led(replica)
            else:
                watcher.on_lost(replica.topic, replica.index, assignment.leader_epoch)

    async def _create(self, change: _Change, assigned: AssignedPartition) -> Replica:
        config = self._topic_config(change.where.topic)
        made = await self._on_disk(lambda: self._make_log(change, config))
        replica = Replica(
            change.where.topic,
            change.where.topic_id,
            change.where.partition_id,
            made,
            Partition(self._node_id, _assignment(assigned)),
            topic_rules(config),
        )
        self._reconfigure([replica])  # the log may be from before, and time has passed
        self._replicas.add(replica)
        return replica

    def _make_log(self, change: _Change, config: TopicConfig) -> Log:
        """A new log, or the one that is there, which knows its topic's id."""
        made = self._directory.create(
            change.name, log_config(config, self._config.current), now_ms=self._now_ms()
        )
        disk = made.segments.files.disk
        if PARTITION_METADATA not in disk.names(made.directory):
            write_topic_id(disk, f"{made.directory}/{PARTITION_METADATA}", change.where.topic_id)
        return made

    async def _delete(self, change: _Change) -> None:
        replica = self._replicas.remove(*change.name)
        if replica is None:
            return
        leader_epoch = replica.partition.assignment.leader_epoch
        for watcher in self._watchers:
            watcher.on_lost(*change.name, leader_epoch)
        unique_id = format_uuid(random_uuid(self._rng)).replace("-", "_")
        await self._on_disk(lambda: self._directory.delete(change.name, unique_id))
        await self._on_disk(self._directory.sweep)

    async def _on_disk(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._disk_thread, call)


def _assignment(assigned: AssignedPartition) -> Assignment:
    return Assignment(
        leader=assigned.leader,
        leader_epoch=assigned.leader_epoch,
        partition_epoch=assigned.partition_epoch,
        replicas=assigned.replicas,
        isr=assigned.isr,
    )
