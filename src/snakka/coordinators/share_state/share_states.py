"""The share coordinator of a broker: finds the machine that keeps a share partition.

Not here: what is decided (machine.py), which messages say so (apis).
"""

from asyncio import Future
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import TypeVar

from snakka.coordinators.coordinator import Coordinator
from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.hosted import Command, HostSettings, Stage
from snakka.coordinators.ports import Timers
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


class ShareStates(Coordinator[ShareStateMachine]):
    """All share partitions that this broker coordinates."""

    def __init__(
        self,
        settings: ShareStateSettings,
        host_settings: HostSettings,
        partition_count: Callable[[], int],  # of __share_group_state
        timers: Timers,
        has_partition: HasPartition,
    ) -> None:
        runtime = Runtime(
            lambda: ShareStateMachine(settings, has_partition),
            SHARE_STATE_RECORDS,
            timers,
            host_settings,
        )
        super().__init__(runtime, partition_count)

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
        return await self._runtime.get(self.partition_of(str(where))).execute(command)


def _take(done: Future[None]) -> None:
    """Nobody waits for it, and the next coordinator has the state either way."""
    if not done.cancelled():
        done.exception()
