"""Commit, abort, and what repeated, late and misplaced requests are told (KIP-98, KIP-890)."""

import asyncio

import pytest

from snakka.coordinators.transactions.initializing import Producer
from snakka.protocol.error_codes import ErrorCode
from tests.coordinators.fakes import settle
from tests.coordinators.transactions.asking import T0, T1, V1, V2, Asking, ask

FIRST = Producer(1, 0)
SECOND = Producer(1, 1)
LAST = Producer(1, 32766)


async def begun(a: Asking) -> None:
    assert await a.init() == "1:0"
    assert await a.add(FIRST, T0, T1) == "NONE"


@pytest.mark.parametrize(("committed", "outcome"), [(True, "commit"), (False, "abort")])
def test_version_2_ends_every_transaction_in_a_new_epoch(committed: bool, outcome: str) -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        assert await a.end(FIRST, committed=committed) == "1:1"
        assert a.markers == [f"{outcome} 1:1 by 0 t-0 t-1"]
        assert await a.state() == f"Complete{outcome.capitalize()} 1:1"
        assert await a.end(FIRST, committed=committed) == "1:1"  # repeated
        assert await a.end(FIRST, committed=not committed) == "INVALID_TXN_STATE"
        assert await a.add(FIRST, T0) == "PRODUCER_FENCED"
        assert await a.add(SECOND, T0) == "NONE"
        assert len(a.markers) == 1

    ask(body)


def test_a_late_end_does_not_end_the_next_transaction() -> None:  # pitfall 14
    async def body(a: Asking) -> None:
        await begun(a)
        await a.end(FIRST)
        await a.add(SECOND, T0)
        for committed in (True, False):
            assert await a.end(FIRST, committed=committed) == "PRODUCER_FENCED"
        assert await a.state() == "Ongoing 1:1 t-0"
        assert len(a.markers) == 1

    ask(body)


def test_version_1_keeps_its_epoch() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        assert await a.end(FIRST, client_version=V1) == "1:0"
        assert a.markers == ["commit 1:0 by 0 t-0 t-1"]
        assert await a.end(FIRST, client_version=V1) == "1:0"
        assert await a.end(FIRST, client_version=V1, committed=False) == "INVALID_TXN_STATE"
        assert await a.add(FIRST, T0) == "NONE"

    ask(body)


def test_the_level_in_force_decides_whatever_the_client_knows() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        assert await a.end(FIRST, client_version=V2) == "1:0"
        assert await a.add(FIRST, T0) == "NONE"

    ask(body, version=1)


def test_who_may_not_end_a_transaction() -> None:
    async def body(a: Asking) -> None:
        assert await a.end(FIRST) == "INVALID_PRODUCER_ID_MAPPING"
        assert await a.end(FIRST, name="") == "INVALID_REQUEST"
        await begun(a)
        for version in (V1, V2):
            assert await a.end(Producer(9, 0), client_version=version) == (
                "INVALID_PRODUCER_ID_MAPPING"
            )
            assert await a.end(SECOND, client_version=version) == "PRODUCER_FENCED"

    ask(body)


def test_what_has_not_begun_cannot_be_committed() -> None:
    async def body(a: Asking) -> None:
        await a.init()
        for version in (V1, V2):
            assert await a.end(FIRST, client_version=version) == "INVALID_TXN_STATE"
        assert await a.end(FIRST, client_version=V1, committed=False) == "INVALID_TXN_STATE"

    ask(body)


def test_version_2_may_abort_what_the_coordinator_never_heard_of() -> None:
    async def body(a: Asking) -> None:
        await a.init()
        for epoch in range(3):
            producer = Producer(1, epoch)
            assert await a.end(producer, committed=False) == f"1:{epoch + 1}"
        assert a.markers == []
        assert await a.state() == "CompleteAbort 1:3"

    ask(body)


def test_while_markers_are_written_everybody_is_told_to_come_again() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        gate = a.sender.gate = asyncio.Event()
        assert await a.end(FIRST) == "1:1"  # decided, and so answered
        assert await a.state() == "PrepareCommit 1:1 t-0 t-1"
        assert await a.end(FIRST) == "CONCURRENT_TRANSACTIONS"
        assert await a.end(FIRST, committed=False) == "INVALID_TXN_STATE"
        assert await a.end(SECOND) == "CONCURRENT_TRANSACTIONS"
        assert await a.add(SECOND, T0) == "CONCURRENT_TRANSACTIONS"
        assert await a.verify(SECOND, T0) == ["CONCURRENT_TRANSACTIONS"]
        assert await a.init() == "CONCURRENT_TRANSACTIONS"
        gate.set()
        await settle()
        assert await a.add(SECOND, T0) == "NONE"

    ask(body)


def test_where_epochs_have_run_out_the_end_tells_the_next_producer_id() -> None:
    async def body(a: Asking) -> None:
        await a.begin_at(LAST.producer_epoch)
        await a.add(LAST, T0)
        gate = a.sender.gate = asyncio.Event()
        assert await a.end(LAST) == "2:0"
        assert a.markers == ["commit 1:32767 by 1 t-0"]
        assert await a.add(Producer(2, 0), T0) == "CONCURRENT_TRANSACTIONS"
        await a.fail_over()
        gate.set()
        await settle()
        assert await a.state() == "CompleteCommit 2:0"
        assert await a.end(LAST) == "2:0"  # repeated
        assert await a.add(LAST, T0) == "INVALID_PRODUCER_ID_MAPPING"
        assert await a.add(Producer(2, 0), T0) == "NONE"

    ask(body)


def test_partitions_are_looked_up() -> None:  # pitfall 13
    async def body(a: Asking) -> None:
        assert await a.verify(FIRST, T0) == ["INVALID_PRODUCER_ID_MAPPING"]
        await a.init()
        assert await a.verify(FIRST, T0) == ["TRANSACTION_ABORTABLE"]
        await a.add(FIRST, T0)
        assert await a.verify(FIRST, T0, T1) == ["NONE", "TRANSACTION_ABORTABLE"]
        assert await a.verify(SECOND, T0) == ["PRODUCER_FENCED"]
        await a.end(FIRST)
        assert await a.verify(SECOND, T0) == ["TRANSACTION_ABORTABLE"]

    ask(body)


def test_an_end_is_answered_once_it_is_on_all_replicas() -> None:  # pitfall 1
    async def body(a: Asking) -> None:
        for each in (a.init(), a.add(FIRST, T0)):
            asking = asyncio.create_task(each)
            await settle()
            assert not asking.done()
            a.log.commit()
            await asking
        ending = asyncio.create_task(a.end(FIRST))
        await settle()
        assert not ending.done()
        assert a.markers == []  # nor is the outcome told to anybody
        a.log.commit()
        assert await ending == "1:1"
        assert a.markers == ["commit 1:1 by 0 t-0"]

    ask(body, commits_at_once=False)


def test_an_end_that_was_not_committed_never_was() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        a.log.commits_at_once = False
        kept = len(a.log.batches)
        ending = asyncio.create_task(a.end(FIRST))
        await settle()
        del a.log.batches[kept:]  # the new leader never had it
        a.log.commits_at_once = True
        await a.fail_over()
        assert await ending == "NOT_COORDINATOR"
        assert a.markers == []
        assert await a.end(FIRST, committed=False) == "1:1"
        assert a.markers == ["abort 1:1 by 1 t-0 t-1"]

    ask(body)


def test_a_log_that_takes_nothing_changes_nothing() -> None:
    async def body(a: Asking) -> None:
        await begun(a)
        a.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
        assert await a.end(FIRST) == "COORDINATOR_NOT_AVAILABLE"
        a.log.refusal = None
        assert await a.state() == "Ongoing 1:0 t-0 t-1"
        assert await a.end(FIRST) == "1:1"

    ask(body)
