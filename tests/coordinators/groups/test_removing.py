"""Offsets and groups end when they are deleted or have not been used for long."""

import asyncio

from snakka.coordinators.hosted import TransactionEnd
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.delete_groups import DeleteGroupsRequest
from snakka.protocol.messages.describe_groups import DescribeGroupsRequest
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from snakka.protocol.messages.list_groups import ListGroupsRequest
from snakka.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.coordinators.fakes import settle
from tests.coordinators.groups.asking import NAMES, Asking, ask, client

DAY_MS = 24 * 60 * 60 * 1000


async def groups_of(
    a: Asking, states: tuple[str, ...] = (), types: tuple[str, ...] = ()
) -> set[str]:
    request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))
    response = await a.groups.list_groups(request, client(5))
    assert response.error_code == 0
    return {each.group_id for each in response.groups}


async def delete(a: Asking, *names: str) -> list[str]:
    response = await a.groups.delete_groups(
        DeleteGroupsRequest(groups_names=list(names)), client(2)
    )
    return [NAMES[each.error_code] for each in response.results]


async def delete_offset(a: Asking, index: int, group: str = "g") -> str:
    topic = OffsetDeleteRequestTopic(
        name="t", partitions=[OffsetDeleteRequestPartition(partition_index=index)]
    )
    request = OffsetDeleteRequest(group_id=group, topics=[topic])
    response = await a.groups.delete_offsets(request, client(0))
    codes = [
        response.error_code,
        *(each.error_code for t in response.topics for each in t.partitions),
    ]
    return NAMES[next((code for code in codes if code), 0)]


async def join(a: Asking, protocol_type: str = "consumer") -> None:
    """A member of version 0, which is in at once where the group does not wait for more."""
    subscription = b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff"
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        member_id="",
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription)],
    )
    joining = asyncio.create_task(a.groups.join_group(request, client(0)))
    await settle()
    a.timers.advance(0)
    assert (await joining).error_code == 0


def test_a_group_is_deleted_with_its_offsets() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await a.commit(2, index=1)
        await a.commit_in_transaction(3)
        assert await groups_of(a) == {"g"}
        assert await delete(a, "g", "unknown") == ["NONE", "GROUP_ID_NOT_FOUND"]
        await a.groups.end_transaction(0, TransactionEnd(9, 0, 0, is_committed=True))
        for _ in range(2):
            assert await a.fetch_all() == {}
            assert await groups_of(a) == set()
            await a.restart()

    ask(body)


def test_a_group_with_members_stays() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await join(a)
        assert await delete(a, "g") == ["NON_EMPTY_GROUP"]
        assert await a.commit(2) == "UNKNOWN_MEMBER_ID"

    ask(body, initial_rebalance_delay_ms=0)


def test_offsets_are_deleted_one_by_one() -> None:
    async def body(a: Asking) -> None:
        assert await delete_offset(a, 0) == "GROUP_ID_NOT_FOUND"
        await a.commit(1)
        await a.commit(2, index=1)
        assert await delete_offset(a, 0) == "NONE"
        assert await delete_offset(a, 5) == "NONE"
        for _ in range(2):
            assert await a.fetch_all() == {"t": {1: 2}}
            await a.restart()

    ask(body)


def test_offsets_of_topics_that_members_consume_stay() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await a.commit(1, topic="other")
        await join(a)
        assert await delete_offset(a, 0) == "GROUP_SUBSCRIBED_TO_TOPIC"

    ask(body, initial_rebalance_delay_ms=0)


def test_offsets_of_members_of_another_kind_stay() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await join(a, "connect")
        assert await delete_offset(a, 0) == "NON_EMPTY_GROUP"

    ask(body, initial_rebalance_delay_ms=0)


def test_offsets_go_with_their_topic() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await a.commit(1, topic="kept")
        await a.groups.delete_topics(["t"])
        assert await a.fetch_all() == {"kept": {0: 1}}

    ask(body)


def test_offsets_of_a_group_without_members_expire() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        a.timers.advance(6 * DAY_MS)
        await a.commit(2, index=1)
        a.timers.advance(DAY_MS - 1)
        assert await a.fetch_all() == {"t": {0: 1, 1: 2}}
        a.timers.advance(600_000)
        assert await a.fetch_all() == {"t": {1: 2}}
        a.timers.advance(6 * DAY_MS)
        for _ in range(2):
            assert await a.fetch_all() == {}
            assert await groups_of(a) == set()
            await a.restart()

    ask(body)


def test_a_commit_may_say_how_long_it_is_to_be_kept() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1, retention_time_ms=1_000)
        await a.commit(2, index=1)
        await a.restart()
        a.timers.advance(600_000)
        assert await a.fetch_all() == {"t": {1: 2}}

    ask(body)


def test_offsets_expire_a_batch_at_a_time() -> None:
    async def body(a: Asking) -> None:
        for index in range(25):
            await a.commit(1, index=index)
        a.timers.advance(7 * DAY_MS)
        assert len((await a.fetch_all())["t"]) == 15
        a.timers.advance(2_000)
        assert await a.fetch_all() == {}
        assert await groups_of(a) == set()

    ask(body, expired_offsets_max=10, offsets_retention_check_interval_ms=7 * DAY_MS)


def test_offsets_that_a_transaction_changes_do_not_expire() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await a.commit_in_transaction(2)
        a.timers.advance(8 * DAY_MS)
        assert await a.fetch_all() == {"t": {0: 1}}

    ask(body)


def test_groups_are_listed_by_state_and_type() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1)
        await a.commit(1, "h")
        await join(a)
        assert await groups_of(a) == {"g", "h"}
        assert await groups_of(a, states=("empty",)) == {"h"}
        assert await groups_of(a, states=(" completingrebalance", "Dead")) == {"g"}
        assert await groups_of(a, types=("Classic",)) == {"g", "h"}
        assert await groups_of(a, types=("consumer",)) == set()

    ask(body, initial_rebalance_delay_ms=0)


def test_groups_are_described() -> None:
    async def body(a: Asking) -> None:
        await a.commit(1, "h")
        await join(a)
        request = DescribeGroupsRequest(groups=["g", "h", "x"])
        g, h, x = (await a.groups.describe_groups(request, client(5))).groups
        assert (g.group_state, g.protocol_type, len(g.members)) == (
            "CompletingRebalance",
            "consumer",
            1,
        )
        assert g.members[0].client_host == "/127.0.0.1"
        assert (h.group_state, h.protocol_type, h.members) == ("Empty", "", [])
        assert (x.group_state, x.error_code) == ("Dead", ErrorCode.NONE)
        x = (await a.groups.describe_groups(request, client(6))).groups[2]
        assert (x.group_state, x.error_code) == ("Dead", ErrorCode.GROUP_ID_NOT_FOUND)

    ask(body, initial_rebalance_delay_ms=0)
