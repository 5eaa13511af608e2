"""This broker as a member of the cluster: it registers, says that it lives, and leaves (KIP-631).

It is fenced, and leads nothing, until it has caught up with the metadata log. On leaving it asks
to be let go, and waits until what it led is led by others or there is nobody to lead it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from snakka.apis.context import Controller
from snakka.metadata.versions import SUPPORTED_FEATURES
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from snakka.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from snakka.protocol.types import Uuid

log = logging.getLogger(__name__)

_REGISTRATION_VERSION: Final = 4
_HEARTBEAT_VERSION: Final = 2
_RETRY_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Registration:
    """What a broker says of itself."""

    broker_id: int
    cluster_id: str
    incarnation_id: Uuid
    listeners: Sequence[Listener]
    rack: str | None
    log_dirs: Sequence[Uuid]
    previous_broker_epoch: int  # of the last clean shutdown, or -1
    heartbeat_interval_ms: int
    shutdown_timeout_ms: int


class RegistrationError(Exception):
    """The controller does not take this broker."""


class Membership:
    """An async context manager: unfenced on entering, let go on leaving."""

    def __init__(
        self, registration: Registration, controller: Controller, find_offset: Callable[[], int]
    ) -> None:
        self._registration = registration
        self._controller = controller
        self._find_offset = find_offset
        self._beating: asyncio.Task[None]
        self.broker_epoch = -1

    async def __aenter__(self) -> "Membership":
        self.broker_epoch = await self._register()
        while (await self._beat()).is_fenced:
            await asyncio.sleep(_RETRY_S)
        self._beating = asyncio.get_running_loop().create_task(self._keep_beating())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._beating.cancel()
        try:
            async with asyncio.timeout(self._registration.shutdown_timeout_ms / 1000):
                while not (await self._beat(want_shut_down=True)).should_shut_down:
                    await asyncio.sleep(_RETRY_S)
        except TimeoutError:
            log.warning("leaving without the controller's consent")

    async def _register(self) -> int:
        said = self._registration
        request = BrokerRegistrationRequest(
            broker_id=said.broker_id,
            cluster_id=said.cluster_id,
            incarnation_id=said.incarnation_id,
            listeners=list(said.listeners),
            features=[
                Feature(
                    name=name, min_supported_version=levels.min, max_supported_version=levels.max
                )
                for name, levels in SUPPORTED_FEATURES.items()
            ],
            rack=said.rack,
            log_dirs=list(said.log_dirs),
            previous_broker_epoch=said.previous_broker_epoch,
        )
        answer = await self._controller.ask(
            request, _REGISTRATION_VERSION, BrokerRegistrationResponse
        )
        if answer.error_code:
            raise RegistrationError(ErrorCode(answer.error_code).message)
        return answer.broker_epoch

    async def _beat(self, *, want_shut_down: bool = False) -> BrokerHeartbeatResponse:
        request = BrokerHeartbeatRequest(
            broker_id=self._registration.broker_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=self._find_offset(),
            want_fence=False,
            want_shut_down=want_shut_down,
        )
        return await self._controller.ask(request, _HEARTBEAT_VERSION, BrokerHeartbeatResponse)

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(self._registration.heartbeat_interval_ms / 1000)
            answer = await self._beat()
            if answer.error_code:
                log.warning("heartbeat refused: %s", ErrorCode(answer.error_code).message)
