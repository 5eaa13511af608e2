"""Moves replicas between this broker's log directories while they are served (KIP-113, KIP-858).

A move copies until little is left, makes that durable, tells the controller, and swaps the logs in
one turn of the event loop. Whatever comes before the swap can be broken off and gone on with; what
comes after it is brought to an end.

Not here: the steps themselves (storage/moving.py), who may ask for a move (log_dirs.py).
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from snakka.node.directory_assignments import DirectoryAssignments
from snakka.protocol.errors import MalformedError
from snakka.replication.replica import Replica
from snakka.storage.compaction.throttle import Throttle
from snakka.storage.disk import Disk
from snakka.storage.errors import StorageError
from snakka.storage.group_commit import GroupCommit
from snakka.storage.log import Log
from snakka.storage.log_directories import LogDirectories
from snakka.storage.log_directory import LogDirectory
from snakka.storage.moving import CHUNK_BYTES, Move, begin_move
from snakka.storage.names import TopicPartition

log = logging.getLogger(__name__)

_T = TypeVar("_T")

_LAST_BYTES: Final = 32 * 1024  # copied in the turn of the swap, while nobody else gets to append
_LAST_BYTES_MAX: Final = 8 * 1024 * 1024  # where appends are faster than the turns of the loop
_BUSY_S: Final = 0.05


@dataclass(slots=True)
class _Running:
    move: Move
    replica: Replica
    task: asyncio.Task[None]
    is_announced: bool = False  # the controller may take the replica to be in the target already
    is_swapped: bool = False


class Moves:
    """The moves under way, a task for each."""

    def __init__(
        self,
        directories: LogDirectories,
        assignments: DirectoryAssignments,
        group_commit: GroupCommit,
        disk: Disk,
        disk_thread: Executor,
        copy_thread: Executor,
        *,
        now_ms: Callable[[], int],
    ) -> None:
        self._directories = directories
        self._assignments = assignments
        self._group_commit = group_commit
        self._disk = disk
        self._disk_thread = disk_thread  # whatever changes a log directory, in its order
        self._copy_thread = copy_thread  # one: moves share the disks with those who are served
        self._throttle = Throttle(math.inf)
        self._now_ms = now_ms
        self._running: dict[TopicPartition, _Running] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Moves go on inside; on leaving they are broken off, to be resumed by the next start."""
        try:
            yield
        finally:
            for each in list(self._running.values()):
                await self._break_off(each)

    def limit(self, bytes_per_second: float) -> None:
        """How much all moves together may copy."""
        self._throttle = Throttle(bytes_per_second)

    def find_target(self, partition: TopicPartition) -> str | None:
        """Where the partition is moving to."""
        running = self._running.get(partition)
        return None if running is None else running.move.target.path

    async def begin(self, replica: Replica, target: LogDirectory) -> None:
        """Makes the future log; it is copied to from now on."""
        partition = TopicPartition(replica.topic, replica.index)
        source = self._directories.find(partition)
        if source is None or source is target:
            return
        move = await self._on_disk(
            lambda: begin_move(source, target, partition, replica.topic_id, now_ms=self._now_ms())
        )
        self.go_on(replica, move)

    def go_on(self, replica: Replica, move: Move) -> None:
        """Copies to a future log that is there."""
        partition = move.partition
        task = asyncio.get_running_loop().create_task(self._run(partition))
        self._running[partition] = _Running(move, replica, task)
        task.add_done_callback(lambda _: self._running.pop(partition))

    async def cancel(self, partition: TopicPartition) -> None:
        """Ends a move and removes what it has copied; one that has swapped comes to its end."""
        if (running := self._running.get(partition)) is not None:
            await self._break_off(running)
            if not running.is_swapped:
                self._take_back(partition, running)
        if (target := self._directories.find_future(partition)) is not None:
            await self._on_disk(lambda: target.remove_future(partition, now_ms=self._now_ms()))

    def on_directory_failed(self, directory: LogDirectory) -> None:
        """Moves from or to it end; the log that is left is served as before."""
        for partition, running in list(self._running.items()):
            move = running.move
            if running.is_swapped:
                if directory is move.target:
                    running.task.cancel()
            elif directory in (move.source, move.target):
                running.task.cancel()
                self._take_back(partition, running)

    def _take_back(self, partition: TopicPartition, running: _Running) -> None:
        if running.is_announced:
            directory_id = self._directories.id_of(running.move.source)
            self._assignments.assign(running.replica.topic_id, partition.partition, directory_id)

    async def _break_off(self, running: _Running) -> None:
        if not running.is_swapped:
            running.task.cancel()
        await asyncio.wait([running.task])

    async def _run(self, partition: TopicPartition) -> None:
        running = self._running[partition]
        while partition in self._directories.busy:
            await asyncio.sleep(_BUSY_S)
        self._directories.busy.add(partition)
        try:
            await self._move(running)
        except (OSError, StorageError, MalformedError):
            log.exception("the move of %s has failed", partition)
        finally:
            self._directories.busy.discard(partition)

    async def _move(self, running: _Running) -> None:
        await self._copy(running)
        await self._flush(running.move.future)
        running.is_announced = True
        replica, target = running.replica, self._directories.id_of(running.move.target)
        await self._assignments.assign(replica.topic_id, replica.index, target)
        last_bytes = _LAST_BYTES
        while (replaced := self._swap(running, last_bytes)) is None:
            await self._copy(running)
            last_bytes = min(2 * last_bytes, _LAST_BYTES_MAX)
        await self._finish(running.move, replaced, replica.log)
        log.info("%s is in %s now", running.move.partition, running.move.target.path)

    async def _copy(self, running: _Running) -> None:
        """Copies until little is left: of a log that is appended to, something always is."""
        while True:
            move = running.move
            if move.must_begin_anew:
                running.move = await self._on_disk(lambda: self._begin_anew(running))
                continue
            if (cut := move.find_cut()) is not None:
                await self._on_disk(lambda: move.cut(cut))  # noqa: B023
                continue
            if move.has_caught_up:
                return
            chunk = move.read(CHUNK_BYTES)
            now_ms = self._now_ms()
            await self._copying(lambda: move.append(chunk, now_ms=now_ms))  # noqa: B023
            await self._copying(lambda: self._throttle.after(chunk.size_bytes))  # noqa: B023
            if chunk.size_bytes < CHUNK_BYTES:
                return

    def _begin_anew(self, running: _Running) -> Move:
        move, now_ms = running.move, self._now_ms()
        move.target.remove_future(move.partition, now_ms=now_ms)
        topic_id = running.replica.topic_id
        return begin_move(move.source, move.target, move.partition, topic_id, now_ms=now_ms)

    async def _flush(self, each: Log) -> None:
        unflushed = each.begin_flush()
        if unflushed is not None:
            await self._copying(lambda: unflushed.sync(self._disk))
            each.end_flush(unflushed)

    def _swap(self, running: _Running, last_bytes: int) -> Log | None:
        """Copies the rest, if it is small enough, and swaps, all in one turn of the loop."""
        move = running.move
        if move.must_begin_anew or move.find_cut() is not None:
            return None
        if not move.has_caught_up:
            move.append(move.read(last_bytes), now_ms=self._now_ms())
        if not move.has_caught_up:
            return None
        replaced = move.swap()
        running.replica.log = move.target.logs[move.partition]
        running.is_swapped = True
        return replaced

    async def _finish(self, move: Move, replaced: Log, moved: Log) -> None:
        await self._flush(moved)
        # Whoever waits for the old log to be durable gets that before its files lose their names.
        await self._group_commit.commit(replaced)
        now_ms = self._now_ms()
        await self._on_disk(lambda: move.finish(replaced, now_ms=now_ms))

    async def _on_disk(self, call: Callable[[], _T]) -> _T:
        return await _finished(self._disk_thread, call)

    async def _copying(self, call: Callable[[], _T]) -> _T:
        return await _finished(self._copy_thread, call)


async def _finished(thread: Executor, call: Callable[[], _T]) -> _T:
    """A cancelled caller waits until the thread has stopped touching the logs."""
    running = asyncio.get_running_loop().run_in_executor(thread, call)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
