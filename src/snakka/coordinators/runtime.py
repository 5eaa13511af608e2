"""The partitions of an internal topic that this broker leads, each with its machine.

A partition is loaded when its leadership comes and closed when it goes; leader epochs put both in
order where the news does not. A request for a partition that is not here is NOT_COORDINATOR, for
one that still loads COORDINATOR_LOAD_IN_PROGRESS.

Not here: what one partition does (hosted.py).
"""

import asyncio
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.framing import RecordTypes
from snakka.coordinators.hosted import Hosted, HostSettings, Perform, Stage, perform_nothing
from snakka.coordinators.ports import CoordinatorLog, Machine, Timers
from snakka.protocol.error_codes import ErrorCode

M = TypeVar("M", bound=Machine)


class Runtime(Generic[M]):
    """All machines of one kind. An async context manager: leaving it closes all of them."""

    def __init__(
        self,
        new_machine: Callable[[], M],
        types: RecordTypes,
        timers: Timers,
        settings: HostSettings,
        perform: Perform[M] = perform_nothing,
    ) -> None:
        self._new_machine = new_machine
        self._types = types
        self._timers = timers
        self._settings = settings
        self._perform = perform
        self._hosted: dict[int, Hosted[M]] = {}
        self._loads: dict[int, asyncio.Task[None]] = {}
        self._epochs: dict[int, int] = {}  # the latest that was heard of, led or lost

    async def __aenter__(self) -> "Runtime[M]":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        loads = list(self._loads.values())
        for index in list(self._hosted):
            self._close(index)
        await asyncio.gather(*loads, return_exceptions=True)

    def on_partition_led(self, index: int, log: CoordinatorLog, leader_epoch: int) -> None:
        """This broker leads the partition in that epoch."""
        if leader_epoch <= self._epochs.get(index, -1):
            return
        self._epochs[index] = leader_epoch
        self._close(index)
        hosted = Hosted(
            self._new_machine(),
            log,
            leader_epoch,
            self._types,
            self._timers,
            self._settings,
            self._perform,
        )
        self._hosted[index] = hosted
        self._loads[index] = asyncio.get_running_loop().create_task(hosted.load())

    def on_partition_lost(self, index: int, leader_epoch: int) -> None:
        """Another broker leads from that epoch on, or, with the epoch led here, nobody does."""
        if leader_epoch < self._epochs.get(index, -1):
            return
        self._epochs[index] = leader_epoch
        self._close(index)

    async def loaded(self) -> None:
        """Returns once all partitions led so far are loaded, or will not be."""
        await asyncio.gather(*self._loads.values(), return_exceptions=True)

    def get(self, index: int) -> Hosted[M]:
        """The partition, to be asked; CoordinatorError where it is not led here."""
        hosted = self._hosted.get(index)
        if hosted is None:
            raise CoordinatorError(ErrorCode.NOT_COORDINATOR)
        return hosted

    def __iter__(self) -> Iterator[Hosted[M]]:
        """The partitions that are led here."""
        return (each for _, each in self.items())

    def items(self) -> Iterator[tuple[int, Hosted[M]]]:
        """The same, with their indexes."""
        hosted = list(self._hosted.items())
        return (each for each in hosted if each[1].stage is not Stage.CLOSED)

    def _close(self, index: int) -> None:
        load = self._loads.pop(index, None)
        if load is not None:
            load.cancel()
        hosted = self._hosted.pop(index, None)
        if hosted is not None:
            hosted.close()
