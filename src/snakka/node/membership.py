"""This broker as a member of the cluster: it registers, says that it lives, and leaves (KIP-631).

It is fenced, and leads nothing, until it has caught up with the metadata log. On leaving it asks
to be let go, and waits until what it led is led by others or there is nobody to lead it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from snakka.apis.context import Controller
from snakka.controller.decision import RefusedError
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
_REGISTRATION_RETRY_S: Final = 0.25
_TRY_AGAIN: Final = (ErrorCode.DUPLICATE_BROKER_REGISTRATION, ErrorCode.REQUEST_TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Registration:
    """What a broker says of itself."""

    broker_id: int
    cluster_id: str
    incarnation_id: Uuid
    listeners: Sequence[Listener]
    rack: str | None
    log_dirs: Sequence[Uuid]  # that are online
    previous_broker_epoch: int  # of the last clean shutdown, or -1
    heartbeat_interval_ms: int
    registration_timeout_ms: int
    shutdown_timeout_ms: int
    failure_timeout_ms: int  # log.dir.failure.timeout.ms


class RegistrationError(Exception):
    """The controller does not take this broker."""


class Membership:
    """An async context manager: unfenced on entering, let go on leaving.

    `prepare` is waited for once the broker has caught up with the metadata log, before it serves.
    """

    def __init__(
        self,
        registration: Registration,
        controller: Controller,
        find_offset: Callable[[], int],
        find_cordoned: Callable[[], Sequence[Uuid]],
        *,
        prepare: Callable[[], Awaitable[None]],
        stop: Callable[[str], None],
    ) -> None:
        self._registration = registration
        self._controller = controller
        self._find_offset = find_offset
        self._find_cordoned = find_cordoned
        self._prepare = prepare
        self._stop = stop
        self._offline_log_dirs: dict[Uuid, asyncio.TimerHandle | None] = {}
        self._has_news = asyncio.Event()
        self._beating: asyncio.Task[None]
        self.broker_epoch = -1

    async def __aenter__(self) -> "Membership":
        self.broker_epoch = await self._register()
        while (beat := await self._find_beat(want_fence=True)) is None or not beat.is_caught_up:
            await asyncio.sleep(_RETRY_S)
        await self._prepare()
        while (beat := await self._find_beat()) is None or beat.is_fenced:
            await asyncio.sleep(_RETRY_S)
        log.info("this broker is in service, with broker epoch %d", self.broker_epoch)
        self._beating = asyncio.get_running_loop().create_task(self._keep_beating())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._beating.cancel()
        for timer in filter(None, self._offline_log_dirs.values()):
            timer.cancel()
        try:
            async with asyncio.timeout(self._registration.shutdown_timeout_ms / 1000):
                while not await self._is_let_go():
                    await asyncio.sleep(_RETRY_S)
        except TimeoutError:
            log.warning("leaving without the controller's consent")

    def on_directory_failed(self, directory_id: Uuid) -> None:
        """Tells the controller at once; a broker that cannot, must not go on (KIP-858)."""
        timeout_s = self._registration.failure_timeout_ms / 1000
        self._offline_log_dirs[directory_id] = asyncio.get_running_loop().call_later(
            timeout_s, self._stop, "the controller cannot be told that a log directory has failed"
        )
        self.hurry()

    def hurry(self) -> None:
        """The next heartbeat has something to say."""
        self._has_news.set()

    async def _register(self) -> int:
        """Its new epoch. A process that was here before may have to be missed first."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + self._registration.registration_timeout_ms / 1000
        while True:
            try:
                return await self._try_to_register()
            except RefusedError as refused:
                if refused.code not in _TRY_AGAIN or loop.time() >= deadline_s:
                    raise RegistrationError(f"no controller takes this broker: {refused}") from None
            await asyncio.sleep(_REGISTRATION_RETRY_S)

    async def _try_to_register(self) -> int:
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
            raise RefusedError(ErrorCode(answer.error_code))
        return answer.broker_epoch

    async def _beat(self, *, want_fence: bool, want_shut_down: bool) -> BrokerHeartbeatResponse:
        offline = list(self._offline_log_dirs)
        request = BrokerHeartbeatRequest(
            broker_id=self._registration.broker_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=self._find_offset(),
            want_fence=want_fence,
            want_shut_down=want_shut_down,
            offline_log_dirs=offline,
            cordoned_log_dirs=list(self._find_cordoned()),
        )
        answer = await self._controller.ask(request, _HEARTBEAT_VERSION, BrokerHeartbeatResponse)
        if not answer.error_code:
            self._was_told(offline)
        return answer

    def _was_told(self, offline: Sequence[Uuid]) -> None:
        for directory_id in offline:
            if (timer := self._offline_log_dirs[directory_id]) is not None:
                timer.cancel()
                self._offline_log_dirs[directory_id] = None

    async def _find_beat(
        self, *, want_fence: bool = False, want_shut_down: bool = False
    ) -> BrokerHeartbeatResponse | None:
        """The controller's answer, unless there is none or it is that of another process."""
        try:
            answer = await self._beat(want_fence=want_fence, want_shut_down=want_shut_down)
        except RefusedError as refused:
            log.warning("no controller hears of this broker: %s", refused)
            return None
        if answer.error_code:
            log.warning("heartbeat refused: %s", ErrorCode(answer.error_code).message)
            return None
        return answer

    async def _is_let_go(self) -> bool:
        """Whether there is nothing more to wait for; without a controller nobody lets it go."""
        answer = await self._find_beat(want_shut_down=True)
        return answer is None or answer.should_shut_down

    async def _keep_beating(self) -> None:
        while True:
            # Not wait_for, which in Python 3.11 forgets a cancellation that comes with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._registration.heartbeat_interval_ms / 1000):
                    await self._has_news.wait()
            self._has_news.clear()
            await self._find_beat()
