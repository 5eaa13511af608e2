"""Durable acknowledgements at a bearable price: one sync serves everybody who waits for it.

While one round of syncs is on its way, appends to any log gather for the next. The files of a round
are synced in parallel, off the event loop. With this, acks=all survives a power loss of all
replicas (`log.flush.interval.messages=1`).
"""

import asyncio
from concurrent.futures import Executor

from snakka.storage.disk import Disk
from snakka.storage.log import Log


class GroupCommit:
    """Syncs logs in rounds. Belongs to one event loop, as the logs do."""

    def __init__(self, disk: Disk, threads: Executor) -> None:
        self.rounds = 0
        self._disk = disk
        self._threads = threads
        self._next_round: dict[Log, list[asyncio.Future[None]]] = {}
        self._running: asyncio.Task[None] | None = None

    def commit(self, log: Log) -> asyncio.Future[None]:
        """Done when all that has been appended to `log` is durable; raises if that failed.

        What is staged is written in a later turn of the loop: where the staged buffers do not last
        that long, `write_staged` comes first.
        """
        # A future for each, so that one who gives up does not take the others along: a shielded one
        # for all costs three times as much.
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiters = self._next_round.get(log)
        if waiters is None:
            self._next_round[log] = [waiter]
        else:
            waiters.append(waiter)
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return waiter

    async def _run(self) -> None:
        try:
            while self._next_round:
                await asyncio.sleep(0)  # whoever is ready to append joins
                this_round, self._next_round = self._next_round, {}
                self.rounds += 1
                syncs = (self._sync(log) for log in this_round)
                results = await asyncio.gather(*syncs, return_exceptions=True)
                for waiters, error in zip(this_round.values(), results, strict=True):
                    _wake(waiters, error)
        finally:
            self._running = None

    async def _sync(self, log: Log) -> None:
        unflushed = log.begin_flush_of_records()
        if unflushed is None:
            return
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, unflushed.sync, self._disk)
        except OSError as error:
            raise log.fail(error) from error
        log.end_flush(unflushed)


def _wake(waiters: list[asyncio.Future[None]], error: BaseException | None) -> None:
    for waiter in waiters:
        if waiter.done():  # cancelled
            continue
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)
