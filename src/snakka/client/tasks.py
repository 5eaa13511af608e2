"""The background work of a producer or a consumer: begun when needed, ended with it."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVarTuple

_A = TypeVarTuple("_A")


class Tasks:
    """Work under way, some of it by a key under which there is never more than one."""

    def __init__(self, on_done: Callable[[], None]) -> None:
        self._on_done = on_done
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy: set[Hashable] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def once(
        self,
        key: Hashable,
        work: Callable[[*_A], Coroutine[Any, Any, None]],
        *arguments: *_A,
    ) -> None:
        """Begins what has not begun yet; `on_done` is called after it."""
        if key not in self._busy:
            self._busy.add(key)
            self.spawn(self._until_done(key, lambda: work(*arguments)))

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _until_done(
        self, key: Hashable, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        try:
            await work()
        finally:
            self._busy.discard(key)
            self._on_done()
