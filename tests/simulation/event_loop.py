"""An event loop in simulated time: what a process of one node runs on, until it is killed.

It implements what asyncio's tasks, futures and timeouts ask of a loop. Everything that is ready
runs at once, in its order; timers and threads come from the scheduler that all nodes share, so that
a seed replays a run exactly. What a thread would do happens in one piece, after a random time.
"""

import asyncio
import contextvars
import math
import random
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any, cast

from tests.simulation.clock import Scheduler


class SimulatedLoop:
    """`after` is told whenever the node has come to rest again."""

    def __init__(
        self,
        scheduler: Scheduler,
        rng: random.Random,
        after: Callable[[str], None],
        thread_ms_max: int,
    ) -> None:
        self._loop = cast(asyncio.AbstractEventLoop, self)  # as far as it is asked to be one
        self._scheduler = scheduler
        self._rng = rng
        self._after = after
        self._thread_ms_max = thread_ms_max
        self._ready: deque[asyncio.Handle] = deque()
        self._error: BaseException | None = None
        self._is_dead = False

    # What a simulation does.

    def run(self, what: str, event: Callable[[], object]) -> None:
        """Lets something happen, and all that follows from it now."""
        if self._is_dead:
            return
        events._set_running_loop(self._loop)
        try:
            event()
            while self._ready and not self._is_dead:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            events._set_running_loop(None)
        if self._error is not None:
            raise self._error
        if not self._is_dead:
            self._after(what)

    def kill(self) -> None:
        """Nothing that waits goes on."""
        self._is_dead = True
        self._ready.clear()

    # What asyncio asks for.

    def time(self) -> float:
        return self._scheduler.now_ms / 1000

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return not self._is_dead

    def is_closed(self) -> bool:
        return self._is_dead

    def call_soon(
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self._loop, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self._loop, context)

        def fire() -> None:
            if not timer.cancelled():
                self.run("wakes up", timer._run)

        self._scheduler.at(math.ceil(when * 1000 - 1e-6), fire)
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is passed over when its time comes."""

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self._loop)

    def create_task(
        self, coro: "Coroutine[Any, Any, Any] | Generator[Any, None, Any]", **options: Any
    ) -> "asyncio.Task[Any]":
        return asyncio.Task(coro, loop=self._loop, **options)

    def run_in_executor(
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        done = self.create_future()

        def work() -> None:
            try:
                result = func(*args)
            except Exception as error:
                done.set_exception(error)
            else:
                done.set_result(result)

        delay_ms = self._rng.randint(0, self._thread_ms_max)
        self._scheduler.after(delay_ms, lambda: self.run("is done in a thread", work))
        return done

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """What nobody has caught ends the run; what a kill leaves behind does not."""
        if not self._is_dead:
            message = str(context.get("message"))
            self._error = context.get("exception") or AssertionError(message)
