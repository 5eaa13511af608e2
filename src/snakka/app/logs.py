"""The logs of a broker: its directories, what is moved between them, and what fails."""

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Final

from snakka.apis.context import Controller
from snakka.app.ground import Ground, StartError
from snakka.config.broker import BrokerConfig
from snakka.config.topic import TopicConfig
from snakka.node.chores import Chores, cleaner_config, upkeep_config
from snakka.node.directory_assignments import DirectoryAssignments
from snakka.node.directory_failures import DirectoryFailures
from snakka.node.dynamic_config import DynamicConfig
from snakka.node.log_dirs import NodeLogDirs
from snakka.node.membership import Membership
from snakka.node.moves import Moves
from snakka.node.topic_settings import log_config
from snakka.replication.replicas import Replicas
from snakka.storage.errors import StorageError
from snakka.storage.group_commit import GroupCommit
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory, OpenedDirectory

_SYNC_THREADS: Final = 4

log = logging.getLogger(__name__)


class LogsPart:
    """Everything below the replicas, as it is put together."""

    def __init__(
        self, ground: Ground, dynamic: DynamicConfig, replicas: Replicas, controller: Controller
    ) -> None:
        self._ground = ground
        self._config = ground.config
        self._dynamic = dynamic
        self._replicas = replicas
        self._controller = controller
        self.failures = DirectoryFailures(ground.directory, ground.stop)
        self.membership: Membership | None = None
        self.previous_epoch = -1  # of the last clean shutdown
        self.directories: LogDirectories
        self.disk_thread: ThreadPoolExecutor
        self.group_commit: GroupCommit
        self.assignments: DirectoryAssignments
        self.moves: Moves
        self.log_dirs: NodeLogDirs

    async def open(self, stack: AsyncExitStack) -> None:
        ground = self._ground
        self.directories = await self._open_directories()
        stack.callback(self._shut_down)
        self.disk_thread = stack.enter_context(ThreadPoolExecutor(1, "log-directory"))
        sync_threads = stack.enter_context(ThreadPoolExecutor(_SYNC_THREADS, "sync"))
        self.group_commit = GroupCommit(ground.disk, sync_threads)
        self.assignments = DirectoryAssignments(
            self._controller, self._config.node_id, self.broker_epoch
        )
        await stack.enter_async_context(self.assignments.running())
        move_thread = stack.enter_context(ThreadPoolExecutor(1, "move"))
        self.moves = Moves(
            self.directories,
            self.assignments,
            self.group_commit,
            ground.disk,
            self.disk_thread,
            move_thread,
            now_ms=ground.now_ms,
        )
        await stack.enter_async_context(self.moves.running())
        self.log_dirs = NodeLogDirs(self.directories, self._replicas, self.moves, self.disk_thread)
        self._dynamic.follow(self._configure)
        for listener in (self.moves.on_directory_failed, self._tell_controller):
            self.failures.listen(listener)

    async def run_chores(self, stack: AsyncExitStack) -> None:
        chores = Chores(
            self.directories,
            self._ground.disk,
            self.disk_thread,
            upkeep_config(self._config),
            cleaner_config(self._config),
            now_ms=self._ground.now_ms,
            on_log_start=self._replicas.log_start_moved,
            on_failure=self.failures.report,
        )
        self._dynamic.follow(
            lambda config: chores.reconfigure(upkeep_config(config), cleaner_config(config))
        )
        await stack.enter_async_context(chores.running())

    def broker_epoch(self) -> int:
        return -1 if self.membership is None else self.membership.broker_epoch

    def _tell_controller(self, directory: LogDirectory) -> None:
        if self.membership is not None:
            self.membership.on_directory_failed(self.directories.id_of(directory))

    def _configure(self, config: BrokerConfig) -> None:
        self.moves.limit(config.get_int("replica.alter.log.dirs.io.max.bytes.per.second"))
        self.directories.cordoned = _find_cordoned(config)
        if self.membership is not None:
            self.membership.hurry()

    async def _open_directories(self) -> LogDirectories:
        """All that can be opened; the rest has failed."""
        ids, failed = self._ground.log_dirs.ids, dict(self._ground.log_dirs.failed)
        results = await asyncio.gather(
            *(asyncio.to_thread(self._open_directory, path) for path in ids),
            return_exceptions=True,
        )
        opened: list[OpenedDirectory] = []
        for path, result in zip(ids, results, strict=True):
            if isinstance(result, OSError):
                failed[path] = str(result)
            elif isinstance(result, BaseException):
                raise result
            else:
                opened.append(result)
        for path, reason in failed.items():
            log.error("%s has failed, and is left out: %s", path, reason)
        if not opened or self._ground.directory in failed:
            raise StartError("; ".join(f"{path}: {reason}" for path, reason in failed.items()))
        self._find_previous_epoch(opened, has_all=not failed)
        directories = (each.directory for each in opened)
        cordoned = _find_cordoned(self._config)
        self.failures.directories = LogDirectories(ids, directories, failed, cordoned)
        return self.failures.directories

    def _find_previous_epoch(self, opened: list[OpenedDirectory], *, has_all: bool) -> None:
        """Only where all directories tell the same of it was the shutdown a clean one (KIP-966)."""
        epochs = {each.broker_epoch for each in opened}
        if has_all and len(epochs) == 1:
            (epoch,) = epochs
            self.previous_epoch = -1 if epoch is None else epoch

    def _open_directory(self, path: str) -> OpenedDirectory:
        """All logs of one directory; what had to be mended is told."""
        broker = TopicConfig(self._config, {})
        opened = LogDirectory.open(
            self._ground.files,
            path,
            self._ground.rng,
            lambda _: log_config(broker, self._config),
            now_ms=self._ground.now_ms(),
            on_failure=self.failures.report,
        )
        for each in opened.opened:
            for damage in each.damages:
                log.error("%s: %s", each.log.directory, damage)
        return opened

    def _shut_down(self) -> None:
        for directory in self.directories:
            try:
                directory.shut_down(self.broker_epoch())
            except (OSError, StorageError):
                log.exception("%s is not shut down cleanly", directory.path)


def _find_cordoned(config: BrokerConfig) -> frozenset[str]:
    """The paths that get no new partitions (KIP-1066)."""
    named = config.get_list("cordoned.log.dirs")
    paths = config.log_directories if "*" in named else named
    return frozenset(os.path.abspath(path) for path in paths)
