"""From a decided transaction to a finished one: its markers in all partitions, then the record.

Markers are sent until every partition has one that is committed. It goes on where another broker
left off, so a partition may get the same marker twice, and never one of the other outcome.

Not here: how markers reach a partition's leader (the port), what they do there (replication).
"""

import asyncio
import logging
from typing import Final

from snakka.coordinators.errors import CoordinatorError
from snakka.coordinators.groups.offsets import TopicPartition
from snakka.coordinators.hosted import Hosted, Stage, TransactionEnd
from snakka.coordinators.ports import Timers
from snakka.coordinators.transactions.machine import TransactionMachine
from snakka.coordinators.transactions.metadata import State, TransactionMetadata
from snakka.coordinators.transactions.ports import MarkerSender
from snakka.coordinators.transactions.settings import TransactionSettings
from snakka.protocol.error_codes import ErrorCode

# The partition has seen a later epoch of the producer or of its coordinator: there is nothing of
# this transaction left to be ended.
_SUPERSEDED: Final = (
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
)
_logger = logging.getLogger(__name__)


class Finishing:
    """All transactions that are on their way from decided to finished."""

    def __init__(self, sender: MarkerSender, timers: Timers, settings: TransactionSettings) -> None:
        self._sender = sender
        self._timers = timers
        self._settings = settings
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, hosted: Hosted[TransactionMachine], prepared: TransactionMetadata) -> None:
        """The decision is committed; what follows happens by itself."""
        task = asyncio.get_running_loop().create_task(self._finish(hosted, prepared))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _finish(
        self, hosted: Hosted[TransactionMachine], prepared: TransactionMetadata
    ) -> None:
        left = set(prepared.partitions)
        backoff_ms = self._settings.marker_retry_backoff_ms
        while hosted.stage is Stage.ACTIVE:
            left = await self._send(_end_of(prepared, hosted.leader_epoch), left)
            if not left and await _complete(hosted, prepared):
                return
            await self._sleep(backoff_ms)
            backoff_ms = min(2 * backoff_ms, self._settings.marker_retry_backoff_max_ms)

    async def _send(self, end: TransactionEnd, left: set[TopicPartition]) -> set[TopicPartition]:
        """Those of the partitions that have no marker yet."""
        if not left:
            return left
        codes = await self._sender.send(end, left)
        for partition, code in codes.items():
            if code in _SUPERSEDED:
                _logger.warning("%s did not need the marker of %s: %s", partition, end, code.name)
        return left - {
            partition
            for partition, code in codes.items()
            if code is ErrorCode.NONE or code in _SUPERSEDED
        }

    async def _sleep(self, delay_ms: int) -> None:
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not over.done():
                over.set_result(None)

        timer = self._timers.call_later(delay_ms, wake)
        try:
            await over
        finally:
            timer.cancel()


async def _complete(hosted: Hosted[TransactionMachine], prepared: TransactionMetadata) -> bool:
    try:
        await hosted.execute(lambda machine, now_ms: machine.complete(prepared, now_ms))
    except CoordinatorError:
        return False
    return True


def _end_of(prepared: TransactionMetadata, coordinator_epoch: int) -> TransactionEnd:
    return TransactionEnd(
        prepared.producer_id,
        prepared.producer_epoch,
        coordinator_epoch,
        prepared.state is State.PREPARE_COMMIT,
        prepared.client_version,
    )
