"""A cluster: where requests go, and how it goes on when nodes come, go and move."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from snakka.client.address import Address
from snakka.client.cluster import Cluster, CoordinatorType
from snakka.client.errors import KafkaError, UnreachableError, WrongNodeError
from snakka.client.settings import ClientSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from snakka.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from snakka.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from snakka.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from snakka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.client.fake_node import (
    QUICK,
    FakeNode,
    metadata_of,
    run,
    serves_metadata,
    serving,
)

GROUPS = ListGroupsRequest()


def groups(code: int = 0) -> ListGroupsResponse:
    return ListGroupsResponse(throttle_time_ms=0, error_code=code, groups=[])


def unused_address() -> Address:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return Address("127.0.0.1", unused.getsockname()[1])


def cluster_of(*nodes: FakeNode, settings: ClientSettings = QUICK) -> Cluster:
    return Cluster([str(each.address) for each in nodes], settings)


def test_any_node_that_answers_will_do() -> None:
    node = FakeNode({ListGroupsRequest: lambda _: groups()})

    async def scenario() -> None:
        async with serving(node), Cluster(f"{unused_address()},{node.address}", QUICK) as cluster:
            for _ in range(10):
                await cluster.ask_any(GROUPS, ListGroupsResponse)
        assert node.connections == 1

    run(scenario())


def test_nobody_reachable_is_an_error_after_the_time_for_a_call() -> None:
    settings = ClientSettings(default_api_timeout_ms=50, retry_backoff_ms=10)

    async def scenario() -> None:
        async with Cluster(str(unused_address()), settings) as cluster:
            with pytest.raises(UnreachableError):
                await cluster.ask_any(GROUPS, ListGroupsResponse)

    run(scenario())


def test_an_error_of_the_whole_answer_is_raised() -> None:
    refused = groups(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    node = FakeNode({ListGroupsRequest: lambda _: refused})

    async def scenario() -> None:
        async with serving(node), cluster_of(node) as cluster:
            with pytest.raises(KafkaError) as raised:
                await cluster.ask_any(GROUPS, ListGroupsResponse)
            assert raised.value.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            assert not raised.value.is_retriable
        assert node.count(ListGroupsRequest) == 1

    run(scenario())


def test_what_may_pass_is_asked_again() -> None:
    answers = [groups(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), groups()]
    node = FakeNode({ListGroupsRequest: lambda _: answers.pop(0)})

    async def scenario() -> None:
        async with serving(node), cluster_of(node) as cluster:
            await cluster.ask_any(GROUPS, ListGroupsResponse)
        assert node.count(ListGroupsRequest) == 2

    run(scenario())


def test_a_lost_connection_is_dialled_again() -> None:
    node = FakeNode({ListGroupsRequest: lambda _: groups()})

    async def scenario() -> None:
        async with serving(node), cluster_of(node) as cluster:
            await cluster.ask_any(GROUPS, ListGroupsResponse)
            node.drop()
            await cluster.ask_any(GROUPS, ListGroupsResponse)
        assert node.connections == 2

    run(scenario())


def test_one_dial_serves_all_who_ask_at_once() -> None:
    node = FakeNode({ListGroupsRequest: lambda _: groups()})

    async def scenario() -> None:
        async with serving(node), cluster_of(node) as cluster:
            await asyncio.gather(*(cluster.ask_any(GROUPS, ListGroupsResponse) for _ in range(20)))
        assert node.connections == 1

    run(scenario())


def test_a_node_is_found_under_its_new_address() -> None:  # pitfall 27
    node = FakeNode({ListGroupsRequest: lambda _: groups()})
    resolved: list[str] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        resolve = loop.getaddrinfo
        addresses = ["127.0.0.2", "127.0.0.1"]

        async def moving(host: Any, *rest: Any, **options: Any) -> Sequence[Any]:
            if host == "moving.test":
                host = addresses.pop(0)
                resolved.append(host)
            return await resolve(host, *rest, **options)

        loop.getaddrinfo = moving  # type: ignore[assignment, method-assign]
        async with serving(node), Cluster(f"moving.test:{node.address.port}", QUICK) as cluster:
            await cluster.ask_any(GROUPS, ListGroupsResponse)

    run(scenario())
    assert resolved == ["127.0.0.2", "127.0.0.1"]


def created(code: int) -> CreateTopicsResponse:
    result = CreatableTopicResult(name="topic", error_code=code, error_message=None)
    return CreateTopicsResponse(throttle_time_ms=0, topics=[result])


def test_the_controller_is_looked_for_again_where_it_moved() -> None:
    old, new = FakeNode(), FakeNode({CreateTopicsRequest: lambda _: created(0)})
    controller = [0]

    def moved(_: CreateTopicsRequest) -> CreateTopicsResponse:
        controller[0] = 1
        return created(ErrorCode.NOT_CONTROLLER)

    def metadata(_: MetadataRequest) -> MetadataResponse:
        answer = metadata_of(old, new)
        return MetadataResponse(
            brokers=answer.brokers, controller_id=controller[0], topics=[], cluster_id="fake"
        )

    for node in (old, new):
        node.scripts[MetadataRequest] = metadata
    old.scripts[CreateTopicsRequest] = moved

    async def scenario() -> None:
        async with serving(old, new), cluster_of(old) as cluster:
            request = CreateTopicsRequest(topics=[])
            await cluster.ask_controller(request, CreateTopicsResponse)
        assert new.count(CreateTopicsRequest) == 1

    run(scenario())


def coordinator(key: str, node_id: int, node: FakeNode) -> FindCoordinatorResponse:
    found = Coordinator(
        key=key,
        node_id=node_id,
        host=node.address.host,
        port=node.address.port,
        error_code=0,
        error_message=None,
    )
    return FindCoordinatorResponse(
        throttle_time_ms=0,
        error_code=0,
        error_message=None,
        node_id=0,
        host="",
        port=0,
        coordinators=[found],
    )


def deleted(code: int) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        throttle_time_ms=0, results=[DeletableGroupResult(group_id="group", error_code=code)]
    )


def test_a_coordinator_that_moved_is_found_again() -> None:
    """The error is deep inside of the answer; the coordinator is remembered between requests."""
    old, new = FakeNode(), FakeNode({DeleteGroupsRequest: lambda _: deleted(0)})
    serves_metadata(old, new, leaders={})
    old.scripts[DeleteGroupsRequest] = lambda _: deleted(ErrorCode.NOT_COORDINATOR)
    found: list[str] = []

    def find(request: FindCoordinatorRequest) -> FindCoordinatorResponse:
        assert request.key_type == CoordinatorType.GROUP
        (key,) = request.coordinator_keys
        found.append(key)
        node_id = 0 if len(found) == 1 else 1
        return coordinator(key, node_id, (old, new)[node_id])

    old.scripts[FindCoordinatorRequest] = new.scripts[FindCoordinatorRequest] = find

    async def scenario() -> None:
        async with serving(old, new), cluster_of(old) as cluster:
            for _ in range(3):
                await cluster.ask_coordinator(
                    "group",
                    CoordinatorType.GROUP,
                    DeleteGroupsRequest(groups_names=["group"]),
                    DeleteGroupsResponse,
                )
        assert found == ["group", "group"]
        assert (old.count(DeleteGroupsRequest), new.count(DeleteGroupsRequest)) == (1, 3)

    run(scenario())


def test_a_leader_is_waited_for_in_growing_steps() -> None:  # pitfall 28
    node = FakeNode()
    answers = [[-1], [-1], [-1], [0]]

    async def scenario() -> None:
        node.scripts[MetadataRequest] = lambda _: metadata_of(
            node, leaders={"topic": answers.pop(0) if len(answers) > 1 else answers[0]}
        )
        settings = ClientSettings(retry_backoff_ms=10)
        async with serving(node), cluster_of(node, settings=settings) as cluster:
            loop = asyncio.get_running_loop()
            begun_s = loop.time()
            info = await cluster.get_leader("topic", 0)
            assert (info.leader_id, info.leader_epoch) == (0, 1)
            assert loop.time() - begun_s > (10 + 20 + 40) * 0.8 / 1000
            assert node.count(MetadataRequest) == 4
            await cluster.get_leader("topic", 0)
            assert node.count(MetadataRequest) == 4
            cluster.mark_stale("topic")
            await asyncio.gather(*(cluster.get_leader("topic", 0) for _ in range(50)))
            assert node.count(MetadataRequest) == 5

    run(scenario())


def test_an_unknown_partition_is_no_leader() -> None:
    node = FakeNode()
    serves_metadata(node, leaders={"topic": [0]})
    settings = ClientSettings(default_api_timeout_ms=40, retry_backoff_ms=10)

    async def scenario() -> None:
        async with serving(node), cluster_of(node, settings=settings) as cluster:
            with pytest.raises(KafkaError) as raised:
                await cluster.get_leader("topic", 1)
            assert raised.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    run(scenario())


def test_a_node_that_is_in_no_cluster_is_unreachable() -> None:
    node = FakeNode()
    serves_metadata(node, leaders={})

    async def scenario() -> None:
        async with serving(node), cluster_of(node) as cluster:
            with pytest.raises(UnreachableError, match="no node 7"):
                await cluster.ask_node(7, GROUPS, ListGroupsResponse)

    run(scenario())


def test_a_wrong_node_is_told_by_the_error() -> None:
    not_controller = groups(ErrorCode.NOT_CONTROLLER)
    node = FakeNode({ListGroupsRequest: lambda _: not_controller})
    serves_metadata(node, leaders={})

    async def scenario() -> None:
        async with serving(node), cluster_of(node) as cluster:
            with pytest.raises(WrongNodeError) as raised:
                await cluster.ask_node(0, GROUPS, ListGroupsResponse)
            assert raised.value.is_retriable

    run(scenario())
