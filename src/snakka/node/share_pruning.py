"""What share partitions have no more use for is deleted from `__share_group_state` (KIP-932)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from snakka.apis.cluster import SHARE_STATE_TOPIC
from snakka.coordinators.share_state.share_states import ShareStates
from snakka.replication.replicas import Replicas
from snakka.storage.errors import StorageError

log = logging.getLogger(__name__)


class SharePruning:
    """Looks from time to time, `interval_ms` apart."""

    def __init__(
        self,
        states: ShareStates,
        replicas: Replicas,
        checkpoint: Callable[[], Awaitable[None]],
        interval_ms: int,
    ) -> None:
        self._states = states
        self._replicas = replicas
        self._checkpoint = checkpoint
        self._interval_ms = interval_ms

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Pruning is done inside."""
        task = asyncio.get_running_loop().create_task(self._run())
        try:
            yield
        finally:
            task.cancel()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval_ms / 1000)
            try:
                await self.prune()
            except (OSError, StorageError):
                log.exception("%s cannot be pruned", SHARE_STATE_TOPIC)

    async def prune(self) -> None:
        has_changed = False
        for index, offset in self._states.redundant_offsets().items():
            replica = self._replicas.find(SHARE_STATE_TOPIC, index)
            if replica is None or not replica.partition.is_leader:
                continue
            start_offset = replica.log.log_start_offset
            replica.delete_records(min(offset, replica.log.high_watermark))
            has_changed |= replica.log.log_start_offset > start_offset
        if has_changed:
            await self._checkpoint()
