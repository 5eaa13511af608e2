"""The share coordinator of a broker: finds the machine that keeps a share partition.

Not here: what is decided (machine.py), which messages say so (apis).
"""

from asyncio import Future
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from types import TracebackType
from typing import TypeVar

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.hosted import Command, HostSettings, Stage
from snakka.coordinators.partitioning import partition_for
from snakka.coordinators.ports import CoordinatorLog, Timers
from snakka.coordinators.runtime import Runtime
from snakka.coordinators.share_state.machine import (
    HasPartition,
    ShareStateMachine,
    ShareStateSettings,
)
from snakka.coordinators.share_state.state import SharePartition
from snakka.protocol.internal.frames import SHARE_STATE_RECORDS
from snakka.protocol.types import Uuid

R = TypeVar("R")


class ShareStates:
    """All share partitions that this broker coordinates. An async context manager."""

    def __init__(
        self,
        settings: ShareStateSettings,
        host_settings: HostSettings,
        partition_count: Callable[[], int],  # of __share_group_state
        timers: Timers,
        has_partition: HasPartition,
    ) -> None:
        self._partition_count = partition_count
        self._runtime = Runtime(
            lambda: ShareStateMachine(settings, has_partition),
            SHARE_STATE_RECORDS,
            timers,
            host_settings,
        )

    async def __aenter__(self) -> "ShareStates":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._runtime.__aexit__(kind, error, traceback)

    def on_partition_led(self, index: int, log: CoordinatorLog, leader_epoch: int) -> None:
        """This broker leads a partition of __share_group_state, which is loaded."""
        self._runtime.on_partition_led(index, log, leader_epoch)

    def on_partition_lost(self, index: int, leader_epoch: int) -> None:
        """This broker no longer leads it; `leader_epoch` is the one in which that became so."""
        self._runtime.on_partition_lost(index, leader_epoch)

    async def loaded(self) -> None:
        """Returns once everything led so far is loaded."""
        await self._runtime.loaded()

    def on_topics_deleted(self, topic_ids: AbstractSet[Uuid]) -> None:
        """What is kept of them goes."""
        for hosted in self._runtime:
            with suppress(CoordinatorError):  # one that still loads keeps it
                forgotten = hosted.execute(lambda machine, _: machine.forget_topics(topic_ids))
                forgotten.add_done_callback(_take)

    def redundant_offsets(self) -> Mapping[int, int]:
        """Before which offset nothing is needed any more, by partition."""
        return {
            index: hosted.machine.find_redundant_offset()
            for index, hosted in self._runtime.items()
            if hosted.stage is Stage.ACTIVE
        }

    async def execute(self, where: SharePartition, command: Command[ShareStateMachine, R]) -> R:
        """Raises CoordinatorError for what is refused."""
        index = partition_for(str(where), self._partition_count())
        return await self._runtime.get(index).execute(command)


def _take(done: Future[None]) -> None:
    """Nobody waits for it, and the next coordinator has the state either way."""
    if not done.cancelled():
        done.exception()
