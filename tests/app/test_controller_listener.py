"""What a controller's listener serves and refuses, and what a broker's does not tell of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from snakka.apis.registry import APIS, CONTROLLER_APIS
from snakka.app.node import running_node
from snakka.client.address import Address
from snakka.client.connection import Connection
from snakka.client.errors import ClientError
from snakka.config.loading import load_broker_config
from snakka.config.sources import Setting
from snakka.config.standalone import standalone_settings
from snakka.protocol.api_keys import ApiKey, request_type
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.frames import SIZE_BYTES, read_response, write_request
from snakka.protocol.internal.frames import write_versioned
from snakka.protocol.internal.principal import DefaultPrincipalData
from snakka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from snakka.protocol.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from snakka.protocol.messages.begin_quorum_epoch import (
    RequestPartitionData as BeginPartition,
)
from snakka.protocol.messages.begin_quorum_epoch import RequestTopicData as BeginTopic
from snakka.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from snakka.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from snakka.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from snakka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from snakka.protocol.messages.vote import (
    RequestPartitionData,
    RequestTopicData,
    VoteRequest,
    VoteResponse,
)
from snakka.protocol.schema import Listeners, Request
from snakka.protocol.types import Uuid
from snakka.quorum.replies import TOPIC
from tests.compat.cluster import free_ports

STRANGER = Uuid(b"strangers-direct")
ANONYMOUS = write_versioned(
    DefaultPrincipalData(type="User", name="ANONYMOUS", token_authenticated=False), 0
)


@asynccontextmanager
async def connected(path: Path, *more: Setting) -> AsyncIterator[tuple[Connection, Connection]]:
    """A node's broker and its controller, each with a connection to it."""
    (port,) = free_ports(1)
    settings = [
        *standalone_settings("127.0.0.1", 0, port),
        Setting("log.dirs", str(path / "data"), "test"),
        *more,
    ]
    async with running_node(load_broker_config(iter(settings))) as node:
        broker = await Connection.open(Address(node.host, node.port))
        controller = await Connection.open(Address("127.0.0.1", port))
        try:
            yield broker, controller
        finally:
            broker.close()
            controller.close()


def test_each_listener_tells_of_what_it_serves(tmp_path: Path) -> None:  # pitfall 45
    async def scenario() -> None:
        async with connected(tmp_path) as (broker, controller):
            request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
            for connection, apis, kind in (
                (broker, APIS, Listeners.BROKER),
                (controller, CONTROLLER_APIS, Listeners.CONTROLLER),
            ):
                answer = await connection.ask(request, ApiVersionsResponse)
                told = {each.api_key for each in answer.api_keys}
                assert told == apis.keys()
                assert all(kind in request_type(ApiKey(each)).LISTENERS for each in told)
                features = {each.name for each in answer.supported_features}
                assert {"metadata.version", "kraft.version"} <= features
                finalized = {
                    each.name: each.max_version_level for each in answer.finalized_features
                }
                assert finalized["kraft.version"] == 1
        assert {ApiKey.VOTE, ApiKey.BROKER_HEARTBEAT, ApiKey.ENVELOPE} <= CONTROLLER_APIS.keys()
        assert not {ApiKey.VOTE, ApiKey.BROKER_HEARTBEAT, ApiKey.ENVELOPE} & APIS.keys()
        assert not {ApiKey.PRODUCE, ApiKey.METADATA} & CONTROLLER_APIS.keys()

    asyncio.run(scenario())


def test_what_a_listener_does_not_serve_ends_the_connection(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with connected(tmp_path) as (broker, controller):
            with pytest.raises(ClientError):
                await controller.ask(MetadataRequest(topics=[]), MetadataResponse, version=12)
            with pytest.raises(ClientError):
                await broker.ask(vote(epoch=9), VoteResponse, version=2)

    asyncio.run(scenario())


def vote(epoch: int) -> VoteRequest:
    """Of somebody whom no voter set names, with a log that is ahead of nobody's."""
    partition = RequestPartitionData(
        partition_index=0,
        replica_epoch=epoch,
        replica_id=7,
        replica_directory_id=STRANGER,
        last_offset_epoch=0,
        last_offset=0,
        pre_vote=False,
    )
    return VoteRequest(
        cluster_id=None, topics=[RequestTopicData(topic_name=TOPIC, partitions=[partition])]
    )


def test_strangers_neither_stand_nor_lead(tmp_path: Path) -> None:  # pitfall 37
    async def scenario() -> None:
        async with connected(tmp_path) as (_, controller):
            asked = await controller.ask(vote(epoch=9), VoteResponse)
            answer = asked.topics[0].partitions[0]
            assert answer.error_code == ErrorCode.INCONSISTENT_VOTER_SET
            assert not answer.vote_granted
            assert (answer.leader_id, answer.leader_epoch) == (1, 1)  # nothing has changed

            partition = BeginPartition(
                partition_index=0, voter_directory_id=STRANGER, leader_id=7, leader_epoch=9
            )
            begin = BeginQuorumEpochRequest(
                cluster_id=None,
                topics=[BeginTopic(topic_name=TOPIC, partitions=[partition])],
            )
            begun = await controller.ask(begin, BeginQuorumEpochResponse)
            refused = begun.topics[0].partitions[0]
            assert refused.error_code in (
                ErrorCode.INVALID_VOTER_KEY,
                ErrorCode.INCONSISTENT_VOTER_SET,
            )
            assert (refused.leader_id, refused.leader_epoch) == (1, 1)

    asyncio.run(scenario())


def enveloped(request: Request, version: int, principal: bytes = ANONYMOUS) -> EnvelopeRequest:
    chunks = write_request(request, version, correlation_id=5, client_id="inside")
    data = b"".join(bytes(each) for each in chunks)[SIZE_BYTES:]  # type: ignore[arg-type]
    return EnvelopeRequest(
        request_data=data, request_principal=principal, client_host_address=b"\x7f\0\0\1"
    )


def test_an_envelope_is_opened_for_what_brokers_pass_on(tmp_path: Path) -> None:
    creation = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[]
            )
        ]
    )

    async def scenario() -> None:
        async with connected(tmp_path) as (_, controller):
            made = await controller.ask(enveloped(creation, 7), EnvelopeResponse)
            assert made.error_code == ErrorCode.NONE
            assert made.response_data is not None
            correlation_id, answer = read_response(CreateTopicsResponse, 7, made.response_data)
            assert correlation_id == 5
            assert [(each.name, each.error_code) for each in answer.topics] == [("t", 0)]

            for request, expected in (
                (enveloped(vote(epoch=9), 2), ErrorCode.INVALID_REQUEST),
                (enveloped(MetadataRequest(topics=[]), 12), ErrorCode.INVALID_REQUEST),
                (enveloped(creation, 7, b"?"), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
                (
                    EnvelopeRequest(
                        request_data=b"\0", request_principal=None, client_host_address=b"\0" * 4
                    ),
                    ErrorCode.INVALID_REQUEST,
                ),
            ):
                refused = await controller.ask(request, EnvelopeResponse)
                assert refused.error_code == expected

    asyncio.run(scenario())


def test_controllers_are_described_on_their_listener(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with connected(tmp_path) as (_, controller):
            request = DescribeClusterRequest(
                include_cluster_authorized_operations=False,
                endpoint_type=2,
                include_fenced_brokers=False,
            )
            async with asyncio.timeout(5):  # until it has registered
                while not (await controller.ask(request, DescribeClusterResponse)).brokers:
                    await asyncio.sleep(0.01)
            answer = await controller.ask(request, DescribeClusterResponse)
            assert answer.controller_id == 1
            assert [(each.broker_id, each.port) for each in answer.brokers] == [
                (1, controller.address.port)
            ]
            wrong = DescribeClusterRequest(
                include_cluster_authorized_operations=False, include_fenced_brokers=False
            )
            refused = await controller.ask(wrong, DescribeClusterResponse)
            assert refused.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE

    asyncio.run(scenario())


def test_clients_of_two_listeners_are_told_of_their_own(tmp_path: Path) -> None:
    (second,) = free_ports(1)
    (controller_port,) = free_ports(1)
    listeners = (
        f"PLAINTEXT://127.0.0.1:0,INSIDE://127.0.0.1:{second},"
        f"CONTROLLER://127.0.0.1:{controller_port}"
    )
    settings = (
        Setting("listeners", listeners, "test"),
        Setting(
            "listener.security.protocol.map",
            "PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "test",
        ),
    )

    async def scenario() -> None:
        source = [
            *standalone_settings("127.0.0.1", 0, 0),
            Setting("log.dirs", str(tmp_path / "data"), "test"),
            *settings,
        ]
        async with running_node(load_broker_config(iter(source))) as node:
            for port in (node.port, second):
                connection = await Connection.open(Address("127.0.0.1", port))
                answer = await connection.ask(MetadataRequest(topics=[]), MetadataResponse)
                assert [each.port for each in answer.brokers] == [port]
                connection.close()

    asyncio.run(scenario())
