"""Coroutines that start at once: with nothing to wait for, and with something."""

import asyncio

import pytest

from snakka.net.eager import Waiting, start


async def add(one: int, other: "int | asyncio.Future[int]") -> int:
    return one + (other if isinstance(other, int) else await other)


def test_the_result_of_a_coroutine_that_waits_for_nothing() -> None:
    assert start(add(1, 2)) == 3


def test_an_error_at_once() -> None:
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        start(fail())


def test_the_rest_goes_on_in_a_task() -> None:
    async def scenario() -> None:
        future = asyncio.get_running_loop().create_future()
        started = start(add(1, future))
        assert isinstance(started, Waiting)
        task = asyncio.create_task(started.rest)
        await asyncio.sleep(0)
        assert not task.done()
        future.set_result(5)
        assert await task == 6

    asyncio.run(scenario())


def test_several_waits_and_an_error_thrown_in() -> None:
    async def patient() -> str:
        await asyncio.sleep(0)
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0.01)
        except TimeoutError:
            return "late"
        return "early"

    async def scenario() -> None:
        started = start(patient())
        assert isinstance(started, Waiting)
        assert await started.rest == "late"

    asyncio.run(scenario())


def test_cancellation_reaches_the_coroutine() -> None:
    seen = []

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def scenario() -> None:
        started = start(stubborn())
        assert isinstance(started, Waiting)
        task = asyncio.create_task(started.rest)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert seen == ["cancelled"]
