"""Follows the metadata log: which replicas this broker is to have, and what part each plays.

Logs are made and deleted in a thread of their own, in the order in which the metadata log says so;
until a partition's log is there, requests for it are told that it is unknown and come again.

Not here: what a replica does (replication), where its log goes among several directories.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import NamedTuple, Protocol, TypeVar

from snakka.config.broker import BrokerConfig
from snakka.config.topic import TopicConfig
from snakka.metadata.image import MetadataImage
from snakka.metadata.keys import ConfigResource
from snakka.metadata.loader import Published
from snakka.metadata.partition import Partition as AssignedPartition
from snakka.node.topic_settings import log_config, topic_rules
from snakka.protocol.types import Uuid, format_uuid, random_uuid
from snakka.replication.partition import Assignment, Partition
from snakka.replication.replica import Replica
from snakka.replication.replicas import Replicas
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

    topic: str
    topic_id: Uuid
    partition: int
    assigned: AssignedPartition | None
    image: MetadataImage


class Hosting:
    """Brings the replicas in line with the newest image."""

    def __init__(
        self,
        node_id: int,
        config: BrokerConfig,
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

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Changes are followed inside; afterwards all logs are durable."""
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
        for topic in delta.topics.removed.values():
            for index, partition in topic.partitions.items():
                if self._node_id in partition.replicas:
                    self._put(_Change(topic.name, topic.topic_id, index, None, image))
        for changed in delta.topics.changed.values():
            for index, _, after in changed.changed():
                if self._node_id in after.replicas:
                    self._put(_Change(changed.name, changed.topic_id, index, after, image))
        for resource in delta.configs.changes:
            if resource.type == ConfigResource.topic("").type:
                self._reconfigure(resource.name, image)

    def topic_config(self, image: MetadataImage, topic: str) -> TopicConfig:
        return TopicConfig(self._config, image.configs_of(ConfigResource.topic(topic)))

    def _put(self, change: _Change) -> None:
        self._changes.put_nowait(change)

    def _reconfigure(self, topic: str, image: MetadataImage) -> None:
        config = self.topic_config(image, topic)
        for replica in self._replicas:
            if replica.topic == topic:
                replica.log.config = log_config(config, self._config)
                replica.rules = topic_rules(config)

    async def _follow(self) -> None:
        while True:
            change = await self._changes.get()
            try:
                await self._apply(change)
            except OSError:
                log.exception("cannot follow the change of %s-%s", change.topic, change.partition)
            finally:
                self._changes.task_done()

    async def _apply(self, change: _Change) -> None:
        if change.assigned is None:
            await self._delete(change)
            return
        replica = self._replicas.find(change.topic, change.partition)
        if replica is None or replica.topic_id != change.topic_id:
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
        config = self.topic_config(change.image, change.topic)
        made = await self._on_disk(lambda: self._make_log(change, config))
        replica = Replica(
            change.topic,
            change.topic_id,
            change.partition,
            made,
            Partition(self._node_id, _assignment(assigned)),
            topic_rules(config),
        )
        self._replicas.add(replica)
        return replica

    def _make_log(self, change: _Change, config: TopicConfig) -> Log:
        """A new log, or the one that is there, which knows its topic's id."""
        partition = TopicPartition(change.topic, change.partition)
        made = self._directory.create(
            partition, log_config(config, self._config), now_ms=self._now_ms()
        )
        disk = made.segments.files.disk
        if PARTITION_METADATA not in disk.names(made.directory):
            write_topic_id(disk, f"{made.directory}/{PARTITION_METADATA}", change.topic_id)
        return made

    async def _delete(self, change: _Change) -> None:
        replica = self._replicas.remove(change.topic, change.partition)
        if replica is None:
            return
        for watcher in self._watchers:
            watcher.on_lost(
                change.topic, change.partition, replica.partition.assignment.leader_epoch
            )
        unique_id = format_uuid(random_uuid(self._rng)).replace("-", "_")
        partition = TopicPartition(change.topic, change.partition)
        await self._on_disk(lambda: self._directory.delete(partition, unique_id))
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
