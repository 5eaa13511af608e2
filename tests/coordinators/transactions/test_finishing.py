"""Markers are sent until all partitions have them, by whichever broker coordinates (pitfall 2)."""

import asyncio

import pytest

from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.error_codes import ErrorCode
from tests.coordinators.fakes import settle
from tests.coordinators.transactions.asking import T0, T1, Asking, ask

FIRST = Producer(1, 0)


async def begun(a: Asking) -> None:
    await a.init()
    await a.add(FIRST, T0, T1)


def test_a_partition_that_does_not_take_its_marker_is_sent_it_again() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        a.sender.answers = {T1: [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.REQUEST_TIMED_OUT]}
        await a.end(FIRST)
        assert await a.state() == "PrepareCommit 1:1 t-0 t-1"
        await a.advance(1_000, steps=10)
        assert a.markers == [
            "commit 1:1 by 0 t-0 t-1",
            "commit 1:1 by 0 t-1",
            "commit 1:1 by 0 t-1",
        ]
        assert await a.state() == "CompleteCommit 1:1"

    ask(body)


def test_pauses_between_attempts_grow_up_to_a_limit() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        a.sender.answers = {T0: [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 1_000}
        await a.end(FIRST)
        await a.advance(100_000, steps=100)
        assert 90 < len(a.markers) < 115

    ask(body, marker_retry_backoff_ms=20, marker_retry_backoff_max_ms=1_000)


@pytest.mark.parametrize(
    "code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED]
)
def test_a_partition_that_is_further_on_holds_up_nothing(code: ErrorCode) -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        a.sender.answers = {T0: [code]}
        await a.end(FIRST)
        assert await a.state() == "CompleteCommit 1:1"

    ask(body)


@pytest.mark.parametrize(("committed", "outcome"), [(True, "commit"), (False, "abort")])
def test_the_next_coordinator_goes_on_with_what_was_decided(committed: bool, outcome: str) -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        a.sender.gate = asyncio.Event()
        await a.end(FIRST, committed=committed)
        a.sender.gate = None
        await a.fail_over()
        assert a.markers == [f"{outcome} 1:1 by {epoch} t-0 t-1" for epoch in (0, 1)]
        assert await a.state() == f"Complete{outcome.capitalize()} 1:1"

    ask(body)


def test_a_coordinator_that_lost_its_partition_writes_no_end() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        gate = a.sender.gate = asyncio.Event()
        await a.end(FIRST)
        a.transactions.on_partition_lost(0, 1)
        written = len(a.log.batches)
        gate.set()
        await settle()
        assert len(a.log.batches) == written

    ask(body)


def test_the_end_is_written_even_when_the_log_refuses_it_at_first() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        gate = a.sender.gate = asyncio.Event()
        await a.end(FIRST)
        a.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
        gate.set()
        await settle()
        a.log.refusal = None
        await a.advance(1_000)
        assert await a.state() == "CompleteCommit 1:1"
        assert len(a.markers) == 1

    ask(body)


def test_only_committed_decisions_are_sent_after_loading() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        a.sender.gate = asyncio.Event()
        await a.end(FIRST)
        a.sender.gate = None
        a.log.commits_at_once = False
        a.log.high_watermark = 0  # a new leader does not know yet what is committed
        await a.fail_over()
        assert len(a.markers) == 1
        a.log.commit()
        await settle()
        assert len(a.markers) == 2

    ask(body)
