"""Follows the metadata log: which replicas this broker is to have, and what part each plays.

Logs are made and deleted in a thread of their own, in the order in which the metadata log says so;
until a partition's log is there, requests for it are told that it is unknown and come again.

Not here: what a replica does (replication), which of several directories its log goes to (storage).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import Final, NamedTuple, Protocol, TypeVar

from snakka.config.topic import TopicConfig
from snakka.metadata.directories import UNASSIGNED
from snakka.metadata.image import EMPTY, MetadataImage
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.metadata.loader import Published
from snakka.metadata.local_replicas import TopicPartition as LocalPartition
from snakka.metadata.local_replicas import local_changes, partitions_of
from snakka.metadata.partition import Partition as AssignedPartition
from snakka.node.directory_assignments import DirectoryAssignments
from snakka.node.dynamic_config import DynamicConfig
from snakka.node.moves import Moves
from snakka.node.topic_settings import log_config, topic_rules
from snakka.protocol.types import Uuid
from snakka.replication.admission import TopicRules
from snakka.replication.partition import Assignment, Partition
from snakka.replication.replica import Replica
from snakka.replication.replicas import Replicas
from snakka.storage.config import LogConfig
from snakka.storage.errors import StorageError
from snakka.storage.log import Log
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory, NewLog
from snakka.storage.names import TopicPartition
from snakka.storage.residence import Residence

log = logging.getLogger(__name__)

_T = TypeVar("_T")

_CHANGES_AT_A_TIME: Final = 256  # none of their partitions serves before all of the logs are there


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
        directories: LogDirectories,
        moves: Moves,
        assignments: DirectoryAssignments,
        watchers: list[PartitionWatcher],
        disk_thread: Executor,
        *,
        now_ms: Callable[[], int],
    ) -> None:
        self._node_id = node_id
        self._config = config
        self._replicas = replicas
        self._directories = directories
        self._moves = moves
        self._assignments = assignments
        self._watchers = watchers
        self._now_ms = now_ms
        self._changes: asyncio.Queue[_Change] = asyncio.Queue()
        self._first_image: asyncio.Future[MetadataImage] = (
            asyncio.get_running_loop().create_future()
        )
        self._has_begun = asyncio.Event()
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
        await self._has_begun.wait()
        await self._changes.join()

    async def checkpoint(self) -> None:
        """Writes down where all logs start and how far they are."""
        await self._on_disk(self._directories.checkpoint)

    def begin(self, image: MetadataImage) -> None:
        """The first image that counts: what was before it, this broker was not there to follow."""
        self._image = image
        for where, assigned in partitions_of(image, self._node_id):
            self._changes.put_nowait(_Change(where, assigned))
        self._first_image.set_result(image)

    def publish(self, published: Published) -> None:
        """A new image is in force."""
        if not self._first_image.done():
            return
        delta, image = published
        self._image = image
        local = local_changes(delta, self._node_id)
        for where in local.deleted:
            self._forget(where)
            self._changes.put_nowait(_Change(where, None))
        for where in local.leaders:
            replica = self._replicas.find(where.topic, where.partition_id)
            if replica is None or replica.topic_id != where.topic_id:
                self._replicas.arrivals.expect(where.topic_id, where.partition_id)
        for where, assigned in (*local.leaders.items(), *local.followers.items()):
            self._changes.put_nowait(_Change(where, assigned))
        changed = {each.name for each in delta.configs.changes if each.type == ConfigType.TOPIC}
        if changed:
            self._reconfigure(each for each in self._replicas if each.topic in changed)

    def on_directory_failed(self, directory: LogDirectory) -> None:
        """Its replicas are out of reach; whoever waits for them is told."""
        for replica in self._replicas:
            if TopicPartition(replica.topic, replica.index) in directory.logs:
                self._take_offline(replica.topic, replica.index, replica.topic_id)

    def _forget(self, where: LocalPartition) -> None:
        """Takes nothing more for what is deleted, whenever its log goes: it may come anew."""
        replica = self._replicas.find(where.topic, where.partition_id)
        if replica is not None and replica.topic_id == where.topic_id:
            self._replicas.remove(where.topic, where.partition_id)
            self._tell_lost(replica)

    def _take_offline(self, topic: str, index: int, topic_id: Uuid) -> None:
        replica = self._replicas.take_offline(topic, index, topic_id)
        if replica is not None:
            self._tell_lost(replica)

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
        await self._settle(await self._first_image)
        self._has_begun.set()
        while True:
            changes = [await self._changes.get()]
            while not self._changes.empty() and len(changes) < _CHANGES_AT_A_TIME:
                changes.append(self._changes.get_nowait())
            await self._make_logs(changes)
            for change in changes:
                await self._follow_one(change)

    async def _follow_one(self, change: _Change) -> None:
        try:
            await self._apply(change)
        except (OSError, StorageError):
            log.exception("cannot follow the change of %s", change.name)
            if change.assigned is not None:
                self._take_offline(*change.name, change.where.topic_id)
        finally:
            self._replicas.arrivals.arrived(change.where.topic_id, change.where.partition_id)
            self._changes.task_done()

    def _is_gone(self, where: LocalPartition) -> bool:
        """Whether its topic has been deleted since, which is followed later."""
        return where.topic_id not in self._image.topics.by_id

    async def _make_logs(self, changes: Sequence[_Change]) -> None:
        """Makes the logs of partitions that are new here together, ahead of the changes."""
        first: dict[TopicPartition, _Change] = {}
        for change in changes:
            first.setdefault(change.name, change)
        wanted = []
        for name, change in first.items():
            if change.assigned is None or self._is_gone(change.where):
                continue
            if self._directories.find(name) is not None:
                continue
            path = self._directories.find_path(change.assigned.directory(self._node_id))
            config = log_config(self._topic_config(name.topic), self._config.current)
            if path is not None or not self._directories.offline:
                wanted.append((NewLog(name, change.where.topic_id, config), path))
        if not wanted:
            return
        try:
            await self._on_disk(lambda: self._directories.create_all(wanted, now_ms=self._now_ms()))
        except StorageError as error:  # each of them is told of where it is made by itself
            log.warning("cannot make %d logs at once: %s", len(wanted), error)

    async def _settle(self, image: MetadataImage) -> None:
        """What lies on the disks is brought in line with the first image."""
        residences = {
            TopicPartition(where.topic, where.partition_id): Residence(
                where.topic_id, self._directories.find_path(assigned.directory(self._node_id))
            )
            for where, assigned in partitions_of(image, self._node_id)
        }
        done = await self._on_disk(
            lambda: self._directories.settle(residences, now_ms=self._now_ms())
        )
        for path, partition, fate in done:
            log.warning("%s in %s: %s", partition, path, fate.name.lower())

    async def _apply(self, change: _Change) -> None:
        if change.assigned is None:
            await self._delete(change)
            return
        if self._is_gone(change.where):
            return
        replica = self._replicas.find(*change.name)
        if replica is None or replica.topic_id != change.where.topic_id:
            replica = await self._create(change, change.assigned)
        if replica is None:
            self._take_offline(*change.name, change.where.topic_id)
            return
        replica.assign(_assignment(change.assigned))
        self._tell(replica)
        self._tell_directory(change, change.assigned)

    def _tell(self, replica: Replica) -> None:
        if not replica.partition.is_leader:
            self._tell_lost(replica)
            return
        for watcher in self._watchers:
            watcher.on_led(replica)

    def _tell_lost(self, replica: Replica) -> None:
        for watcher in self._watchers:
            watcher.on_lost(replica.topic, replica.index, replica.partition.assignment.leader_epoch)

    def _tell_directory(self, change: _Change, assigned: AssignedPartition) -> None:
        """The controller hears where the replica is, unless that is about to change (KIP-858)."""
        directory = self._directories.find(change.name)
        is_moving = self._moves.find_target(change.name) is not None
        if directory is None or is_moving or not self._image.metadata_version.has_directories:
            return
        directory_id = self._directories.id_of(directory)
        if directory_id != assigned.directory(self._node_id):
            self._assignments.assign(change.where.topic_id, change.where.partition_id, directory_id)

    async def _create(self, change: _Change, assigned: AssignedPartition) -> Replica | None:
        """The replica of a partition that is new here; None where its directory has failed."""
        config = self._topic_config(change.where.topic)
        made = await self._on_disk(lambda: self._get_log(change, assigned, config))
        if made is None:
            return None
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
        log.info("%s is hosted in %s", change.name, made.directory)
        if (move := self._directories.find_move(change.name)) is not None:
            self._moves.go_on(replica, move)
        return replica

    def _get_log(
        self, change: _Change, assigned: AssignedPartition, config: TopicConfig
    ) -> Log | None:
        """The partition's log, which is made unless it may be in a directory that has failed."""
        directories = self._directories
        found = directories.find(change.name)
        if found is not None:
            return found.logs[change.name]
        directory_id = assigned.directory(self._node_id)
        path = directories.find_path(directory_id)
        if path is None and directory_id != UNASSIGNED and directories.offline:
            return None
        return directories.create(
            change.name,
            change.where.topic_id,
            log_config(config, self._config.current),
            path,
            now_ms=self._now_ms(),
        )

    async def _delete(self, change: _Change) -> None:
        self._replicas.remove(*change.name)
        await self._moves.cancel(change.name)
        await self._on_disk(lambda: self._directories.delete(change.name, now_ms=self._now_ms()))
        log.info("%s is deleted", change.name)

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
