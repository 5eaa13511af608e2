"""One outbound connection: versions, pipelining, and everything that can go wrong with it."""

import asyncio
import socket
from dataclasses import replace
from typing import Any

import pytest

from snakka.client.address import Address
from snakka.client.connection import Connection
from snakka.client.errors import (
    RequestTimedOutError,
    UnreachableError,
    UnsupportedRequestError,
)
from snakka.net.eager import Waiting, start
from snakka.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from snakka.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from snakka.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from snakka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from snakka.protocol.types import ZERO_UUID
from tests.client.fake_node import (
    QUICK,
    FakeNode,
    all_versions,
    metadata_of,
    run,
    serving,
    silence,
)

ASKED = MetadataRequest(topics=[])


def test_the_highest_version_of_both_is_spoken() -> None:
    node = FakeNode({ApiVersionsRequest: lambda _: all_versions(METADATA=7)})

    async def scenario() -> None:
        async with serving(node):
            node.scripts[MetadataRequest] = lambda _: metadata_of(node)
            connection = await Connection.open(node.address, QUICK)
            assert connection.highest_version(MetadataRequest) == 7
            answer = await connection.ask(ASKED, MetadataResponse)
            assert answer.cluster_id == "fake"
            connection.close()

    run(scenario())


def test_a_node_that_refuses_our_version_of_api_versions_is_asked_in_its_own() -> None:
    asked: list[int] = []

    def serve_2(request: ApiVersionsRequest) -> ApiVersionsResponse | bytes:
        asked.append(len(asked))
        if len(asked) == 1:
            refusal = bytes.fromhex("00000000 0023 00000001 0012 0000 0002")
            return len(refusal).to_bytes(4) + refusal
        return ApiVersionsResponse(
            error_code=0, api_keys=[ApiVersion(api_key=3, min_version=0, max_version=5)]
        )

    node = FakeNode({ApiVersionsRequest: serve_2})

    async def scenario() -> None:
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            assert connection.highest_version(MetadataRequest) == 5
            with pytest.raises(UnsupportedRequestError, match="does not serve FETCH"):
                connection.highest_version(FetchRequest)
            connection.close()
        # Version 2 has no names of software.
        assert [getattr(each, "client_software_name", None) for each in node.asked] == [
            "snakka",
            "",
        ]

    run(scenario())


def test_versions_that_do_not_meet_are_an_error() -> None:
    node = FakeNode({ApiVersionsRequest: lambda _: all_versions(FETCH=3)})

    async def scenario() -> None:
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            with pytest.raises(UnsupportedRequestError, match="FETCH in versions 3 to 3"):
                connection.highest_version(FetchRequest)
            connection.close()

    run(scenario())


def test_a_request_that_the_common_version_cannot_carry_leaves_the_connection_usable() -> None:
    node = FakeNode({ApiVersionsRequest: lambda _: all_versions(FIND_COORDINATOR=3)})

    async def scenario() -> None:
        async with serving(node):
            node.scripts[MetadataRequest] = lambda _: metadata_of(node)
            connection = await Connection.open(node.address, QUICK)
            request = FindCoordinatorRequest(key="", coordinator_keys=["group"])
            with pytest.raises(UnsupportedRequestError, match="coordinator_keys"):
                await connection.ask(request, FindCoordinatorResponse)
            await connection.ask(ASKED, MetadataResponse)
            connection.close()

    run(scenario())


def test_requests_are_pipelined_and_answers_find_them() -> None:
    let_go = asyncio.Event()
    node = FakeNode()

    async def answer(request: MetadataRequest) -> MetadataResponse:
        await let_go.wait()
        return metadata_of(node, leaders={(request.topics or [])[0].name or "": [0]})

    async def scenario() -> None:
        from snakka.protocol.messages.metadata import MetadataRequestTopic as Topic

        node.scripts[MetadataRequest] = answer
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            requests = [MetadataRequest(topics=[Topic(name=f"t{i}")]) for i in range(20)]
            asking = [
                asyncio.ensure_future(connection.ask(each, MetadataResponse)) for each in requests
            ]
            await asyncio.sleep(0.01)
            asking[3].cancel()  # its answer is passed over
            let_go.set()
            answers = await asyncio.gather(*asking, return_exceptions=True)
            assert isinstance(answers.pop(3), asyncio.CancelledError)
            names = [each.topics[0].name for each in answers if not isinstance(each, BaseException)]
            assert names == [f"t{i}" for i in range(20) if i != 3]
            connection.close()

    run(scenario())


def test_records_of_a_fetch_stay_as_they_were_received() -> None:
    """They are views: what comes later must not be written over them."""
    node = FakeNode()
    sizes = [10, 50_000, 3_000_000, 70_000, 1]
    contents = [bytes([65 + index]) * size for index, size in enumerate(sizes)]
    left = list(contents)

    def answer(_: FetchRequest) -> FetchResponse:
        partition = PartitionData(
            partition_index=0,
            error_code=0,
            high_watermark=1,
            aborted_transactions=None,
            records=left.pop(0),
        )
        topic = FetchableTopicResponse(topic_id=ZERO_UUID, partitions=[partition])
        return FetchResponse(throttle_time_ms=0, responses=[topic])

    async def scenario() -> None:
        node.scripts[FetchRequest] = answer
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[], forgotten_topics_data=[])
            answers = [await connection.ask(request, FetchResponse) for _ in contents]
            records: list[Any] = [each.responses[0].partitions[0].records for each in answers]
            assert all(isinstance(each, memoryview) for each in records)
            assert [bytes(each) for each in records] == contents
            connection.close()

    run(scenario())


def test_a_request_without_an_answer_ends_the_connection() -> None:
    node = FakeNode({MetadataRequest: silence})

    async def scenario() -> None:
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            late, behind = await asyncio.gather(
                connection.ask(ASKED, MetadataResponse, timeout_ms=30),
                connection.ask(ASKED, MetadataResponse),
                return_exceptions=True,
            )
            assert isinstance(late, RequestTimedOutError)
            assert "no answer to MetadataRequest within 0.03 s" in str(late)
            assert isinstance(behind, UnreachableError)
            assert not connection.is_open
            with pytest.raises(UnreachableError):
                await connection.ask(ASKED, MetadataResponse)

    run(scenario())


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (None, "connection was lost"),
        (b"\x7f\xff\xff\xff", "size 2147483647 is not within"),
        (b"\0\0\0\4\0\0\0\x63", "answers no request: 99"),
        (b"\0\0\0\6\0\0\0\1\0\0", "truncated"),
        (b"\0\0\0\1\0", "answers no request|truncated"),
    ],
)
def test_what_goes_wrong_fails_all_that_wait(answer: bytes | None, complaint: str) -> None:
    node = FakeNode({MetadataRequest: lambda _: answer})

    async def scenario() -> None:
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            for failed in await asyncio.gather(
                connection.ask(ASKED, MetadataResponse),
                connection.ask(ASKED, MetadataResponse),
                return_exceptions=True,
            ):
                assert isinstance(failed, UnreachableError)
            with pytest.raises(UnreachableError, match=complaint):
                await connection.ask(ASKED, MetadataResponse)

    run(scenario())


def test_closing_fails_all_that_wait() -> None:
    node = FakeNode({MetadataRequest: silence})

    async def scenario() -> None:
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            asking = asyncio.ensure_future(connection.ask(ASKED, MetadataResponse))
            await asyncio.sleep(0)
            connection.close()
            with pytest.raises(UnreachableError, match="was closed"):
                await asking

    run(scenario())


def test_nobody_listening_and_nobody_answering() -> None:
    async def scenario() -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = Address("127.0.0.1", unused.getsockname()[1])
            with pytest.raises(UnreachableError, match=f"{address}: Connection refused"):
                await Connection.open(address, QUICK)
        node = FakeNode({ApiVersionsRequest: silence})
        async with serving(node):
            hasty = replace(QUICK, request_timeout_ms=30)
            with pytest.raises(RequestTimedOutError, match="ApiVersions"):
                await Connection.open(node.address, hasty)

    run(scenario())


def test_asking_needs_no_current_task() -> None:
    """Handlers of requests start eagerly, where `asyncio.timeout` would refuse."""
    node = FakeNode()

    async def scenario() -> None:
        node.scripts[MetadataRequest] = lambda _: metadata_of(node)
        async with serving(node):
            connection = await Connection.open(node.address, QUICK)
            answer: asyncio.Future[MetadataResponse] = asyncio.get_running_loop().create_future()

            def begin() -> None:
                outcome = start(connection.ask(ASKED, MetadataResponse))
                assert isinstance(outcome, Waiting)
                task = asyncio.ensure_future(outcome.rest)
                task.add_done_callback(lambda done: answer.set_result(done.result()))

            asyncio.get_running_loop().call_soon(begin)
            assert (await answer).cluster_id == "fake"
            connection.close()

    run(scenario())
