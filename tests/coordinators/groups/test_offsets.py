"""Positions are kept as they were committed, for whoever may commit them."""

import asyncio

import pytest

from snakka.coordinators.hosted import TransactionEnd
from snakka.protocol.codec import encode
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from tests.coordinators.fakes import settle
from tests.coordinators.groups.asking import Asking, ask, client

NOTHING = (-1, -1, "", "NONE")


def test_a_position_is_kept_with_all_that_came_with_it() -> None:  # pitfall 32
    async def body(a: Asking) -> None:
        assert await a.fetch() == NOTHING
        assert await a.commit(7, metadata="søk \U0001f40d", leader_epoch=3) == "NONE"
        assert await a.commit(8, index=1, metadata=None) == "NONE"
        for _ in range(2):
            assert await a.fetch() == (7, 3, "søk \U0001f40d", "NONE")
            assert await a.fetch(index=1) == (8, -1, "", "NONE")
            assert await a.fetch(index=2) == NOTHING
            assert await a.fetch_all() == {"t": {0: 7, 1: 8}}
            assert await a.fetch_all("unknown") == {}
            await a.restart()

    ask(body)


def test_a_commit_is_acknowledged_once_it_is_on_all_replicas() -> None:  # pitfall 1
    async def body(a: Asking) -> None:
        committing = asyncio.create_task(a.commit(7))
        await settle()
        fetching = asyncio.create_task(a.fetch())
        await settle()
        assert not committing.done()
        assert not fetching.done()  # nor may anybody read what could still be lost
        a.log.commit()
        assert await committing == "NONE"
        assert (await fetching)[0] == 7

    ask(body, commits_at_once=False)


def test_metadata_has_a_limit() -> None:
    async def body(a: Asking) -> None:
        assert await a.commit(7, metadata="x" * 10) == "NONE"
        assert await a.commit(8, metadata="x" * 11) == "OFFSET_METADATA_TOO_LARGE"
        assert (await a.fetch())[0] == 7

    ask(body, offset_metadata_max_bytes=10)


@pytest.mark.parametrize(
    ("version", "error"), [(8, "ILLEGAL_GENERATION"), (9, "GROUP_ID_NOT_FOUND")]
)
def test_a_generation_of_a_group_that_is_not_there(version: int, error: str) -> None:
    async def body(a: Asking) -> None:
        assert await a.commit(7, generation=1, member_id="m", version=version) == error

    ask(body)


def test_what_a_log_does_not_take_is_not_committed() -> None:
    async def body(a: Asking) -> None:
        a.log.refusal = ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert await a.commit(7) == "NOT_COORDINATOR"
        assert await a.fetch() == NOTHING

    ask(body)


def test_a_partition_that_is_led_elsewhere() -> None:
    async def body(a: Asking) -> None:
        a.groups.on_partition_lost(0, 1)
        assert await a.commit(7) == "NOT_COORDINATOR"
        request = OffsetFetchRequest(
            group_id="", topics=None, groups=[OffsetFetchRequestGroup(group_id="g", topics=None)]
        )
        response = await a.groups.fetch_offsets(request, client(9))
        assert response.groups[0].error_code == ErrorCode.NOT_COORDINATOR

    ask(body)


@pytest.mark.parametrize("version", range(1, 8))
def test_old_versions_ask_for_one_group(version: int) -> None:
    async def body(a: Asking) -> None:
        await a.commit(7, metadata="m")
        topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0])
        request = OffsetFetchRequest(group_id="g", topics=[topic], groups=[])
        response = await a.groups.fetch_offsets(request, client(version))
        assert encode(response, version)
        (found,) = response.topics[0].partitions
        assert (found.committed_offset, found.metadata) == (7, "m")
        a.groups.on_partition_lost(0, 1)
        refused = await a.groups.fetch_offsets(request, client(version))
        assert encode(refused, version)
        by_partition = [each.error_code for topic in refused.topics for each in topic.partitions]
        codes = by_partition if version == 1 else [refused.error_code]
        assert codes == [ErrorCode.NOT_COORDINATOR]

    ask(body)


def test_a_transaction_s_positions_count_once_it_commits() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        assert await a.commit_in_transaction(5) == "NONE"
        for _ in range(2):
            assert (await a.fetch())[0] == 1
            assert (await a.fetch(require_stable=True))[3] == "UNSTABLE_OFFSET_COMMIT"
            await a.restart()
        end = TransactionEnd(
            producer_id=9, producer_epoch=0, coordinator_epoch=0, is_committed=True
        )
        assert await a.groups.end_transaction(0, end) is ErrorCode.NONE
        for _ in range(2):
            assert await a.fetch(require_stable=True) == (5, -1, "txn", "NONE")
            await a.restart()

    ask(body)


def test_a_transaction_s_positions_vanish_if_it_aborts() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await a.commit_in_transaction(5)
        end = TransactionEnd(9, 0, 0, is_committed=False)
        assert await a.groups.end_transaction(0, end) is ErrorCode.NONE
        for _ in range(2):
            assert (await a.fetch(require_stable=True))[0] == 1
            await a.restart()

    ask(body)


def test_the_later_record_counts_whichever_commits_last() -> None:
    async def body(a: Asking) -> None:
        await a.commit_in_transaction(5)
        await a.commit(6)
        await a.groups.end_transaction(0, TransactionEnd(9, 0, 0, is_committed=True))
        for _ in range(2):
            assert (await a.fetch())[0] == 6
            await a.restart()

    ask(body)


def test_a_marker_for_a_partition_led_elsewhere() -> None:
    async def body(a: Asking) -> None:
        code = await a.groups.end_transaction(3, TransactionEnd(9, 0, 0, is_committed=True))
        assert code is ErrorCode.NOT_LEADER_OR_FOLLOWER

    ask(body)


def test_a_transaction_of_a_generation_that_is_gone() -> None:
    async def body(a: Asking) -> None:
        assert await a.commit_in_transaction(5, generation=1) == "ILLEGAL_GENERATION"
        assert await a.commit_in_transaction(5, group="") == "INVALID_GROUP_ID"

    ask(body)
