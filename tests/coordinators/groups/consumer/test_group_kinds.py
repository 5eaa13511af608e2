"""What classic clients and tools meet in consumer groups, and the other way round."""

import asyncio

from snakka.coordinators.groups.client import ClientInfo
from snakka.coordinators.groups.settings import GroupSettings, MigrationPolicy
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from snakka.protocol.messages.delete_groups import DeleteGroupsRequest
from snakka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from snakka.protocol.messages.list_groups import ListGroupsRequest
from snakka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from snakka.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.coordinators.groups.consumer.test_heartbeating import Consumer, Coordinator, run

CLIENT = ClientInfo("c", "127.0.0.1", 9)


async def commit(c: Coordinator, member_id: str, epoch: int) -> int:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=7, committed_metadata=""
    )
    request = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=epoch,
        member_id=member_id,
        topics=[OffsetCommitRequestTopic(name="t", partitions=[partition])],
    )
    response = await c.groups.commit_offsets(request, CLIENT)
    return response.topics[0].partitions[0].error_code


async def fetch(c: Coordinator, member_id: str | None, epoch: int) -> int:
    group = OffsetFetchRequestGroup(
        group_id="g", member_id=member_id, member_epoch=epoch, topics=None
    )
    request = OffsetFetchRequest(group_id="", topics=None, groups=[group])
    return (await c.groups.fetch_offsets(request, CLIENT)).groups[0].error_code


async def join(c: Coordinator) -> int:
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    return (await c.groups.join_group(request, CLIENT)).error_code


async def listed(c: Coordinator) -> list[tuple[str, str, str]]:
    request = ListGroupsRequest(states_filter=[], types_filter=[])
    groups = (await c.groups.list_groups(request, CLIENT)).groups
    return [(each.group_id, each.group_type, each.group_state) for each in groups]


def test_members_commit_and_fetch_in_their_epoch() -> None:
    async def body(c: Coordinator) -> None:
        a = Consumer(c, "a")
        await a.heartbeat()
        assert await commit(c, "a", a.epoch) == 0
        assert await commit(c, "a", a.epoch - 1) == ErrorCode.STALE_MEMBER_EPOCH
        assert await commit(c, "x", a.epoch) == ErrorCode.UNKNOWN_MEMBER_ID
        assert await fetch(c, "a", a.epoch) == 0
        assert await fetch(c, "a", 9) == ErrorCode.STALE_MEMBER_EPOCH
        assert await fetch(c, "x", 1) == ErrorCode.UNKNOWN_MEMBER_ID
        assert await fetch(c, None, -1) == 0

    run(body)


def test_a_consumer_group_takes_no_classic_members_where_it_may_not_change() -> None:
    async def body(c: Coordinator) -> None:
        a = Consumer(c, "a")
        await a.heartbeat()
        assert await listed(c) == [("g", "consumer", "Stable")]
        assert await join(c) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        await commit(c, "a", a.epoch)
        await a.leave()
        assert await listed(c) == [("g", "consumer", "Empty")]
        assert await join(c) == ErrorCode.MEMBER_ID_REQUIRED
        for _ in range(2):
            assert await listed(c) == [("g", "classic", "Empty")]
            await c.restart()

    run(body, settings=GroupSettings(migration_policy=MigrationPolicy.DISABLED))


def test_a_classic_group_becomes_a_consumer_group_once_it_is_unused() -> None:
    async def body(c: Coordinator) -> None:
        await commit(c, "", -1)
        await join(c)
        a = Consumer(c, "a")
        assert await a.heartbeat() == "GROUP_ID_NOT_FOUND"
        c.timers.advance(10_000)
        assert await a.heartbeat() == "NONE"
        for _ in range(2):
            assert await listed(c) == [("g", "consumer", "Stable")]
            await c.restart()

    run(body)


def test_an_empty_consumer_group_can_be_deleted() -> None:
    async def body(c: Coordinator) -> None:
        a = Consumer(c, "a")
        await a.heartbeat()
        await commit(c, "a", a.epoch)
        request = DeleteGroupsRequest(groups_names=["g"])
        codes = (await c.groups.delete_groups(request, CLIENT)).results
        assert codes[0].error_code == ErrorCode.NON_EMPTY_GROUP
        await a.leave()
        codes = (await c.groups.delete_groups(request, CLIENT)).results
        assert codes[0].error_code == 0
        for _ in range(2):
            assert await listed(c) == []
            await c.restart()

    run(body)


def test_a_consumer_group_expires_with_its_offsets() -> None:
    async def body(c: Coordinator) -> None:
        a = Consumer(c, "a")
        await a.heartbeat()
        await commit(c, "a", a.epoch)
        await a.leave()
        c.timers.advance(8 * 24 * 60 * 60 * 1000)
        await asyncio.sleep(0)
        assert await listed(c) == []

    run(body)


def test_consumer_groups_are_described() -> None:
    async def body(c: Coordinator) -> None:
        a, b = Consumer(c, "a"), Consumer(c, "b")
        await a.heartbeat()
        await b.heartbeat()
        request = ConsumerGroupDescribeRequest(
            group_ids=["g", "x"], include_authorized_operations=False
        )
        g, x = (await c.groups.describe_consumer_groups(request, CLIENT)).groups
        assert (g.group_state, g.group_epoch, g.assignor_name) == ("Reconciling", 2, "uniform")
        first = g.members[0]
        assert (first.member_id, first.member_epoch, first.subscribed_topic_names) == (
            "a",
            1,
            ["t"],
        )
        (assigned,) = first.assignment.topic_partitions
        (target,) = first.target_assignment.topic_partitions
        assert (assigned.topic_name, len(assigned.partitions)) == ("t", 6)
        assert len(target.partitions) == 3
        assert x.error_code == ErrorCode.GROUP_ID_NOT_FOUND

    run(body)
