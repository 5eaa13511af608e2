"""Producer ids to give out, from blocks that the controller allocates (KIP-730)."""

import asyncio
from collections.abc import Callable
from typing import Final

from snakka.apis.context import Controller
from snakka.controller.decision import RefusedError
from snakka.coordinators.errors import CoordinatorError
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

_VERSION: Final = 0
_COME_AGAIN: Final = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # a client that asks will


class ProducerIdBlocks:
    """Ids one after the other; a new block when one is used up."""

    def __init__(
        self, node_id: int, controller: Controller, find_broker_epoch: Callable[[], int]
    ) -> None:
        self._node_id = node_id
        self._controller = controller
        self._find_broker_epoch = find_broker_epoch
        self._block = range(0)
        self._fetching = asyncio.Lock()

    async def next(self) -> int:
        async with self._fetching:
            if not self._block:
                self._block = await self._allocate()
            producer_id = self._block[0]
            self._block = self._block[1:]
            return producer_id

    async def _allocate(self) -> range:
        request = AllocateProducerIdsRequest(
            broker_id=self._node_id, broker_epoch=self._find_broker_epoch()
        )
        try:
            answer = await self._controller.ask(request, _VERSION, AllocateProducerIdsResponse)
        except RefusedError:
            raise CoordinatorError(_COME_AGAIN) from None
        if answer.error_code:
            raise CoordinatorError(_COME_AGAIN)
        start = answer.producer_id_start
        return range(start, start + answer.producer_id_len)
