"""What coordinators of all kinds are alike in: they live on the partitions of an internal topic.

Not here: what one of them is asked (groups, transactions, share_state).
"""

from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

from snakka.coordinators.partitioning import partition_for
from snakka.coordinators.ports import CoordinatorLog, Machine
from snakka.coordinators.runtime import Runtime

M = TypeVar("M", bound=Machine)


class Coordinator(Generic[M]):
    """All keys that this broker coordinates. An async context manager."""

    def __init__(self, runtime: Runtime[M], partition_count: Callable[[], int]) -> None:
        self._runtime = runtime
        self._partition_count = partition_count  # of the topic

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._runtime.__aexit__(kind, error, traceback)

    def on_partition_led(self, index: int, log: CoordinatorLog, leader_epoch: int) -> None:
        """This broker leads a partition of the topic: what it keeps is loaded."""
        self._runtime.on_partition_led(index, log, leader_epoch)

    def on_partition_lost(self, index: int, leader_epoch: int) -> None:
        """This broker no longer leads it; `leader_epoch` is the one in which that became so."""
        self._runtime.on_partition_lost(index, leader_epoch)

    async def loaded(self) -> None:
        """Returns once everything led so far is loaded."""
        await self._runtime.loaded()

    def partition_of(self, key: str) -> int:
        """The partition of the topic that keeps what has this key."""
        return partition_for(key, self._partition_count())
