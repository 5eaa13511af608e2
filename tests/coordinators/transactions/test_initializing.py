"""Who holds a transactional id, and who is fenced (KIP-98, KIP-360)."""

import pytest

from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.error_codes import ErrorCode
from tests.coordinators.transactions.asking import T0, Asking, ask

FIRST = Producer(1, 0)
LAST_EPOCH = 32766  # the one after is kept for fencing


def test_every_holder_gets_the_next_epoch() -> None:
    async def body(a: Asking) -> None:
        assert [await a.init() for _ in range(3)] == ["1:0", "1:1", "1:2"]
        assert await a.init(name="other") == "2:0"
        await a.fail_over()
        assert await a.init() == "1:3"

    ask(body)


def test_a_time_out_has_limits() -> None:
    async def body(a: Asking) -> None:
        assert await a.init(timeout_ms=1001) == "INVALID_TRANSACTION_TIMEOUT"
        assert await a.init(timeout_ms=0) == "INVALID_TRANSACTION_TIMEOUT"
        assert await a.init(name="") == "INVALID_REQUEST"
        assert await a.init(Producer(1, -1), timeout_ms=1000) == "INVALID_REQUEST"
        assert a.ids.given == 0

    ask(body, max_timeout_ms=1000)


def test_a_new_holder_aborts_what_the_one_before_has_begun() -> None:
    async def body(a: Asking) -> None:
        await a.init()
        await a.add(FIRST, T0)
        assert await a.init() == "CONCURRENT_TRANSACTIONS"
        assert await a.add(FIRST, T0) == "PRODUCER_FENCED"
        assert await a.end(FIRST, client_version=0) == "PRODUCER_FENCED"
        assert a.markers == ["abort 1:1 by 0 t-0"]
        assert await a.state() == "CompleteAbort 1:1"
        assert await a.init() == "1:2"

    ask(body)


def test_until_its_markers_are_written_a_holder_is_told_to_come_again() -> None:
    async def body(a: Asking) -> None:
        await a.init()
        await a.add(FIRST, T0)
        a.sender.answers = {T0: [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 3}
        assert [await a.init() for _ in range(2)] == ["CONCURRENT_TRANSACTIONS"] * 2
        await a.advance(1_000, steps=10)
        assert await a.init() == "1:2"

    ask(body)


def test_a_producer_goes_on_with_the_next_epoch_after_an_error() -> None:
    async def body(a: Asking) -> None:
        await a.init()
        assert await a.init(FIRST) == "1:1"
        assert await a.init(FIRST) == "1:1"  # the first answer was lost
        assert await a.init() == "1:2"
        assert await a.init(FIRST) == "PRODUCER_FENCED"
        assert await a.init(Producer(1, 1)) == "PRODUCER_FENCED"
        assert await a.init(Producer(9, 2)) == "PRODUCER_FENCED"

    ask(body)


def test_a_fenced_producer_aborts_nothing_of_its_successor() -> None:
    async def body(a: Asking) -> None:
        await a.init()
        await a.init()
        await a.add(Producer(1, 1), T0)
        assert await a.init(FIRST) == "PRODUCER_FENCED"
        assert await a.state() == "Ongoing 1:1 t-0"
        assert a.markers == []

    ask(body)


def test_a_producer_whose_end_was_not_answered_asks_for_its_epoch() -> None:
    async def body(a: Asking) -> None:
        await a.init()
        await a.add(FIRST, T0)
        await a.end(FIRST)
        await a.fail_over()
        assert await a.init(FIRST) == "1:1"

    ask(body)


@pytest.mark.parametrize("knows", [True, False])
def test_epochs_run_out_and_another_producer_id_follows(knows: bool) -> None:
    async def body(a: Asking) -> None:
        await a.begin_at(LAST_EPOCH)
        assert await a.state() == f"Empty 1:{LAST_EPOCH}"
        expected = Producer(1, LAST_EPOCH) if knows else None
        assert await a.init(expected) == "2:0"
        if knows:
            assert await a.init(expected) == "2:0"  # the first answer was lost

    ask(body)


def test_fencing_works_in_the_last_epoch_too() -> None:
    async def body(a: Asking) -> None:
        await a.begin_at(LAST_EPOCH)
        await a.add(Producer(1, LAST_EPOCH), T0)
        assert await a.init() == "CONCURRENT_TRANSACTIONS"
        await a.advance(0)
        assert a.markers == [f"abort 1:{LAST_EPOCH + 1} by 1 t-0"]
        assert await a.init() == "2:0"

    ask(body)
