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
        self._next_round: dict[Log, asyncio.Future[None]] = {}
        self._running: asyncio.Task[None] | None = None

    async def commit(self, log: Log) -> None:
        """Returns when all that has been appended to `log` is durable; raises if it failed.

        What is staged is written in a later turn of the loop: where the staged buffers do not last
        that long, `write_staged` comes first.
        """
        done = self._next_round.get(log)
        if done is None:
            done = self._next_round[log] = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await asyncio.shield(done)  # one waiter that gives up does not take the others along

    async def _run(self) -> None:
        try:
            while self._next_round:
                await asyncio.sleep(0)  # whoever is ready to append joins
                this_round, self._next_round = self._next_round, {}
                self.rounds += 1
                syncs = (self._sync(log) for log in this_round)
                results = await asyncio.gather(*syncs, return_exceptions=True)
                for done, error in zip(this_round.values(), results, strict=True):
                    if error is None:
                        done.set_result(None)
                    else:
                        done.set_exception(error)
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
