"""Trying again what may pass: waits grow between attempts, up to the time a call may take."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from snakka.client.backoff import Backoff
from snakka.client.errors import ClientError
from snakka.client.settings import ClientSettings

_T = TypeVar("_T")


class Retrying:
    """The retries of one client."""

    def __init__(self, settings: ClientSettings, rng: Random) -> None:
        self._backoff = Backoff(settings.retry_backoff_ms, settings.retry_backoff_max_ms)
        self._timeout_s = settings.default_api_timeout_ms / 1000
        self._rng = rng

    async def __call__(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """What an attempt returns; the error of the last one, where no time is left."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + self._timeout_s
        failures = 0
        while True:
            try:
                return await attempt()
            except ClientError as error:
                failures += 1
                delay_s = self._backoff.delay_ms(failures, self._rng) / 1000
                if not error.is_retriable or loop.time() + delay_s > deadline_s:
                    raise
            await asyncio.sleep(delay_s)
