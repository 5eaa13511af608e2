"""What clients may ask of this broker's log directories: to see them, and to move replicas."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

from snakka.apis.context import LogDir, LogDirReplica
from snakka.node.moves import Moves
from snakka.replication.errors import ReplicaNotAvailableError, ReplicaOfflineError
from snakka.replication.replica import Replica
from snakka.replication.replicas import Replicas
from snakka.storage.errors import (
    LogDirCordonedError,
    LogDirNotFoundError,
    LogDirOfflineError,
    NameTooLongError,
)
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory
from snakka.storage.names import (
    NAME_LENGTH_MAX,
    DirectoryKind,
    TopicPartition,
    moving_directory_name,
)

_UNIQUE_ID_EXAMPLE = "0" * 32


class Room(NamedTuple):
    """Of the volume that a directory is on."""

    total_bytes: int
    usable_bytes: int


def find_room(path: str) -> Room:
    status = os.statvfs(path)
    return Room(status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize)


class NodeLogDirs:
    """The port of apis/context.py over the directories of this node."""

    def __init__(
        self,
        directories: LogDirectories,
        replicas: Replicas,
        moves: Moves,
        threads: Executor,
        find_room: Callable[[str], Room] = find_room,
    ) -> None:
        self._directories = directories
        self._replicas = replicas
        self._moves = moves
        self._threads = threads
        self._find_room = find_room
        self._asking = asyncio.Lock()  # of two who ask at once, the later one has its way

    async def describe(self) -> Sequence[LogDir]:
        described = [await self._describe(each) for each in self._directories]
        return [*described, *(LogDir(path, is_online=False) for path in self._directories.offline)]

    async def _describe(self, directory: LogDirectory) -> LogDir:
        loop = asyncio.get_running_loop()
        try:
            room = await loop.run_in_executor(self._threads, self._find_room, directory.path)
        except OSError:
            return LogDir(directory.path, is_online=False)
        return LogDir(
            directory.path,
            is_online=True,
            replicas=list(self._replicas_in(directory)),
            total_bytes=room.total_bytes,
            usable_bytes=room.usable_bytes,
            is_cordoned=directory.path in self._directories.cordoned,
        )

    def _replicas_in(self, directory: LogDirectory) -> Iterator[LogDirReplica]:
        for partition, log in directory.copy_of_logs().items():
            lag = max(0, log.high_watermark - log.log_end_offset)
            yield LogDirReplica(*partition, log.segments.size_bytes, lag)
        for partition, log in directory.futures.items():
            current = self._directories.find_log(partition)
            lag = 0 if current is None else current.log_end_offset - log.log_end_offset
            yield LogDirReplica(*partition, log.segments.size_bytes, lag, is_future=True)

    async def move(self, topic: str, index: int, path: str) -> None:
        partition = TopicPartition(topic, index)
        target = self._get_target(partition, path)
        async with self._asking:
            if self._replicas.is_offline(topic, index):
                raise ReplicaOfflineError(f"the log directory of {partition} has failed")
            if self._moves.find_target(partition) == path:
                return
            await self._moves.cancel(partition)
            replica = self._get_replica(partition, path)
            # One that has failed may hold another copy, and would come back with it.
            if self._directories.offline and partition not in target.logs:
                raise LogDirOfflineError("nothing is moved while a log directory is offline")
            await self._moves.begin(replica, target)

    def _get_target(self, partition: TopicPartition, path: str) -> LogDirectory:
        name = moving_directory_name(partition, DirectoryKind.FUTURE, _UNIQUE_ID_EXAMPLE)
        if len(name) > NAME_LENGTH_MAX:
            raise NameTooLongError(f"{name} is longer than {NAME_LENGTH_MAX} characters")
        if path not in self._directories.paths:
            raise LogDirNotFoundError(f"{path} is not one of log.dirs")
        target = self._directories.online.get(path)
        if target is None:
            raise LogDirOfflineError(f"{path} has failed: {self._directories.offline[path]}")
        if path in self._directories.cordoned:
            raise LogDirCordonedError(f"{path} is cordoned")
        return target

    def _get_replica(self, partition: TopicPartition, path: str) -> Replica:
        """The replica to be moved; for one that is to come, its place is remembered."""
        replica = self._replicas.find(*partition)
        if replica is None:
            self._directories.preferred[partition] = path
            raise ReplicaNotAvailableError(f"{partition} is not here yet")
        return replica
