"""This controller among the others: it tells the active one where it is and what it supports.

Each process does so once, when it sees in the metadata that it has not yet (KIP-919). Brokers have
a membership of their own (membership.py).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from snakka.apis.context import Controller
from snakka.controller.decision import RefusedError
from snakka.metadata.image import MetadataImage
from snakka.metadata.loader import Published
from snakka.metadata.versions import SUPPORTED_FEATURES
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
    Listener,
)
from snakka.protocol.types import Uuid

log = logging.getLogger(__name__)

_VERSION: Final = 0
_RETRY_S: Final = 1.0


class ControllerMembership:
    """Registers inside `running`, as often as the metadata lacks this process."""

    def __init__(
        self,
        controller_id: int,
        incarnation_id: Uuid,
        listeners: Sequence[Listener],
        controller: Controller,
    ) -> None:
        self._controller_id = controller_id
        self._incarnation_id = incarnation_id
        self._listeners = listeners
        self._controller = controller
        self._is_missing = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.get_running_loop().create_task(self._register())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    def publish(self, published: Published) -> None:
        """A new image is in force."""
        if self._is_registered(published.image):
            self._is_missing.clear()
        elif published.image.metadata_version.has_controller_registration:
            self._is_missing.set()

    def _is_registered(self, image: MetadataImage) -> bool:
        found = image.controllers.get(self._controller_id)
        return found is not None and found.incarnation_id == self._incarnation_id

    async def _register(self) -> None:
        while True:
            await self._is_missing.wait()
            self._is_missing.clear()
            try:
                answer = await self._controller.ask(
                    self._request(), _VERSION, ControllerRegistrationResponse
                )
            except RefusedError as refused:
                code = refused.code
            else:
                code = ErrorCode(answer.error_code)
            if code is not ErrorCode.NONE:
                log.warning("the active controller does not register this one: %s", code.name)
                await asyncio.sleep(_RETRY_S)
                self._is_missing.set()

    def _request(self) -> ControllerRegistrationRequest:
        return ControllerRegistrationRequest(
            controller_id=self._controller_id,
            incarnation_id=self._incarnation_id,
            zk_migration_ready=False,
            listeners=list(self._listeners),
            features=[
                Feature(
                    name=name, min_supported_version=levels.min, max_supported_version=levels.max
                )
                for name, levels in SUPPORTED_FEATURES.items()
            ],
        )
