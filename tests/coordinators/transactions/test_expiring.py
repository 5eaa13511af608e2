"""Transactions past their time-out are aborted, and ids that nobody uses are forgotten."""

from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.error_codes import ErrorCode
from tests.coordinators.transactions.asking import T0, T1, Asking, ask

FIRST = Producer(1, 0)
HOUR_MS = 3_600_000


def test_a_transaction_past_its_time_out_is_aborted_and_its_producer_fenced() -> None:
    async def body(a: Asking) -> None:
        await a.init(timeout_ms=1_000)
        await a.advance(5_000)  # time counts from the first partition on
        await a.add(FIRST, T0)
        await a.advance(600)
        await a.add(FIRST, T1)
        await a.advance(400)
        assert await a.state() == "Ongoing 1:0 t-0 t-1"
        await a.advance(1)
        assert a.markers == ["abort 1:1 by 0 t-0 t-1"]
        assert await a.state() == "CompleteAbort 1:1"
        assert await a.add(FIRST, T0) == "PRODUCER_FENCED"

    ask(body)


def test_time_outs_survive_a_failover() -> None:
    async def body(a: Asking) -> None:
        await a.init(timeout_ms=1_000)
        await a.add(FIRST, T0)
        await a.advance(600)
        await a.fail_over()
        await a.advance(401)
        assert a.markers == ["abort 1:1 by 1 t-0"]

    ask(body)


def test_many_are_aborted_at_once() -> None:
    async def body(a: Asking) -> None:
        for number in range(1, 21):
            await a.init(name=f"tx{number}", timeout_ms=1_000)
            await a.add(Producer(number, 0), T0, name=f"tx{number}")
        await a.advance(1_001)
        assert len(a.markers) == 20

    ask(body)


def test_an_abort_that_cannot_be_written_is_tried_again() -> None:
    async def body(a: Asking) -> None:
        await a.init(timeout_ms=1_000)
        await a.add(FIRST, T0)
        a.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
        await a.advance(1_001)
        a.log.refusal = None
        await a.advance(10_000)
        assert a.markers == ["abort 1:1 by 0 t-0"]

    ask(body)


def test_idle_ids_are_forgotten_and_busy_ones_are_not() -> None:
    async def body(a: Asking) -> None:
        for number in range(1, 71):
            await a.init(name=f"tx{number}")
        await a.init(name="busy", timeout_ms=15 * 60_000)
        await a.advance(9 * HOUR_MS)
        await a.add(Producer(71, 0), T0, name="busy")
        await a.advance(2 * HOUR_MS)
        assert await a.listed() == ["busy"]
        assert await a.add(FIRST, T0, name="tx1") == "INVALID_PRODUCER_ID_MAPPING"
        await a.fail_over()
        assert await a.listed() == ["busy"]
        assert await a.init(name="tx1") == "72:0"

    ask(body, id_expiration_ms=10 * HOUR_MS)
