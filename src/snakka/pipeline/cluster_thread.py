"""A cluster for code that is not asynchronous: an event loop in a thread of its own.

Spark's Python workers are reused from task to task, so what a process has opened stays open for
those that come after; a worker that was forked from another opens its own.

Not here: what is asked of the cluster (broker.py).
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, NamedTuple, TypeVar

from snakka.client.cluster import Cluster
from snakka.client.settings import ClientSettings

_T = TypeVar("_T")


class ClusterAddress(NamedTuple):
    """What a task needs to reach a cluster."""

    bootstrap_servers: str
    settings: ClientSettings


class ClusterThread:
    """Runs coroutines that ask one cluster."""

    def __init__(self, address: ClusterAddress) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.cluster = self.run(self._open(address))

    async def _open(self, address: ClusterAddress) -> Cluster:
        return await Cluster(address.bootstrap_servers, address.settings).__aenter__()

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Begins some work; the caller may do other things before it waits for the result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self.submit(work).result()

    def close(self) -> None:
        self.run(self.cluster.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_OPEN: Final[dict[tuple[int, ClusterAddress], ClusterThread]] = {}


def connect(address: ClusterAddress) -> ClusterThread:
    """The cluster as this process has it open."""
    key = os.getpid(), address
    if key not in _OPEN:
        _OPEN[key] = ClusterThread(address)
    return _OPEN[key]
