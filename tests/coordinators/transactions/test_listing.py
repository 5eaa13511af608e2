"""What operators are told: states, durations, patterns (KIP-664, KIP-994, KIP-1152)."""

import pytest

from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.messages.list_transactions import ListTransactionsRequest
from tests.coordinators.transactions.asking import T0, T1, Asking, ask


async def three(a: Asking) -> None:
    """One that is empty, one that goes on since a second, one that is done."""
    for number, name in enumerate(("empty", "ongoing", "done"), 1):
        await a.init(name=name)
        if name != "empty":
            await a.add(Producer(number, 0), T1, T0, name=name)
    await a.end(Producer(3, 0), name="done")
    await a.advance(1_000)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["done", "empty", "ongoing"]),
        ({"state_filters": ["Ongoing", "CompleteCommit"]}, ["done", "ongoing"]),
        ({"state_filters": ["Sleeping"]}, []),
        ({"producer_id_filters": [1, 2]}, ["empty", "ongoing"]),
        ({"duration_filter": 1_000, "state_filters": ["Ongoing"]}, []),
        ({"duration_filter": 999, "state_filters": ["Ongoing"]}, ["ongoing"]),
        ({"transactional_id_pattern": "o.*|empty"}, ["empty", "ongoing"]),
        ({"transactional_id_pattern": "n"}, []),
        ({"transactional_id_pattern": ""}, ["done", "empty", "ongoing"]),
        ({"transactional_id_pattern": "("}, ["INVALID_REGULAR_EXPRESSION"]),
        ({"transactional_id_pattern": r"(o)\1"}, ["INVALID_REGULAR_EXPRESSION"]),  # as in RE2
    ],
)
def test_filters(filters: dict[str, object], expected: list[str]) -> None:
    async def body(a: Asking) -> None:
        await three(a)
        assert await a.listed(**filters) == expected

    ask(body)


def test_a_pattern_takes_no_longer_than_the_text_is() -> None:
    async def body(a: Asking) -> None:
        await a.init(name="a" * 5_000)
        assert await a.listed(transactional_id_pattern="(a+)+b") == []

    ask(body)


def test_states_that_do_not_exist_are_named() -> None:
    async def body(a: Asking) -> None:
        request = ListTransactionsRequest(
            state_filters=["Ongoing", "Sleeping"], producer_id_filters=[]
        )
        answer = await a.transactions.list_transactions(request)
        assert answer.unknown_state_filters == ["Sleeping"]

    ask(body)


def test_one_is_described() -> None:
    async def body(a: Asking) -> None:
        await three(a)
        assert await a.state("ongoing") == "Ongoing 2:0 t-0 t-1"
        assert await a.state("nobody") == "TRANSACTIONAL_ID_NOT_FOUND"
        assert await a.state("") == "INVALID_REQUEST"

    ask(body)
