"""Starting a coroutine at once instead of in the next turn of the loop.

Most requests are answered without waiting for anything. Those never become a task; so what comes
before the first wait has no current task, and cannot use `asyncio.timeout`.
"""

import types
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Waiting(Generic[_T]):
    """A coroutine that has begun, and what remains of it."""

    rest: Coroutine[Any, Any, _T]


def start(coroutine: Coroutine[Any, Any, _T]) -> _T | Waiting[_T]:
    """The result, where nothing had to be waited for."""
    try:
        waiting_for = coroutine.send(None)
    except StopIteration as finished:
        result: _T = finished.value
        return result
    return Waiting(_continue(coroutine, waiting_for))


async def _continue(coroutine: Coroutine[Any, Any, _T], waiting_for: Any) -> _T:
    return await _resume(coroutine, waiting_for)


@types.coroutine
def _resume(coroutine: Coroutine[Any, Any, _T], waiting_for: Any) -> Generator[Any, Any, _T]:
    try:
        while True:
            try:
                sent = yield waiting_for
            except BaseException as error:
                waiting_for = coroutine.throw(error)
            else:
                waiting_for = coroutine.send(sent)
    except StopIteration as finished:
        result: _T = finished.value
        return result
