"""controller_mutation_rate (KIP-599), as clients that we did not write meet it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from snakka.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from snakka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from tests.compat.asking import ask
from tests.compat.broker_process import BrokerProcess
from tests.compat.cluster import NodeProcess, free_ports
from tests.compat.java_oracle import require
from tests.compat.java_tools import CONFIG_COMMAND, JavaTools

WINDOW = ("controller.quota.window.num=2", "controller.quota.window.size.seconds=1")
EXCEEDED = "The throttling quota has been exceeded"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path / "broker", *WINDOW) as process:
        yield process


def limit(tools: JavaTools, *entity: str, rate: float) -> None:
    """As an administrator does it."""
    tools.run(
        CONFIG_COMMAND,
        *("--alter", "--entity-type", "clients", *entity),
        *("--add-config", f"controller_mutation_rate={rate}"),
    )


def check_refusals(tools: JavaTools, directory: Path) -> None:
    """The tools do not try again by themselves, and say what they were told."""
    limit(tools, "--entity-name", "limited", rate=2)
    config = directory / "client.properties"
    config.write_text("client.id=limited\n")
    limited = ("--command-config", str(config), "--topic")
    tools.run("TopicCommand", "--create", "--partitions", "100", *limited, "large")
    assert EXCEEDED in tools.refusal("TopicCommand", "--create", *limited, "next")
    tools.run("TopicCommand", "--create", "--partitions", "20", "--topic", "of-others")
    limit(tools, "--entity-name", "limited", rate=1_000)  # which pays off the debt at once
    tools.run("TopicCommand", "--delete", *limited, "large")


def test_kafkas_tools_are_refused_what_is_beyond_their_quota_until_it_is_raised(
    broker: BrokerProcess, tmp_path: Path
) -> None:
    require("java")
    with JavaTools(broker) as tools:
        check_refusals(tools, tmp_path)


def test_the_quota_holds_through_a_broker_that_passes_on(tmp_path: Path) -> None:
    """The controller knows the client by the id that it has given to its broker."""
    require("java")
    ports = free_ports(2)
    settings = (f"controller.quorum.voters=1@127.0.0.1:{ports[0]}", *WINDOW)
    controller = NodeProcess(tmp_path / "1", 1, "controller", ports[0], 0, settings)
    broker = NodeProcess(tmp_path / "2", 2, "broker", 0, ports[1], settings)
    try:
        for node in (controller, broker):
            node.format()
            node.start()
        broker.wait_until_serving()
        with JavaTools(broker) as tools:
            check_refusals(tools, tmp_path)
    finally:
        for node in (broker, controller):
            node.kill()


def test_librdkafka_which_does_not_know_the_error_gets_what_it_asks_for(
    broker: BrokerProcess,
) -> None:
    require("java")
    with JavaTools(broker) as tools:
        limit(tools, "--entity-default", rate=2)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for name in ("large", "next"):
        admin.create_topics([NewTopic(name, 10, 1)])[name].result(30)


def creation(name: str, partitions: int) -> CreateTopicsRequest:
    topic = CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=10_000)


GROWTH = CreatePartitionsRequest(
    topics=[CreatePartitionsTopic(name="large", count=13, assignments=None)],
    timeout_ms=10_000,
    validate_only=False,
)


@pytest.mark.parametrize(
    ("version", "code"), [(5, ErrorCode.NONE), (6, ErrorCode.THROTTLING_QUOTA_EXCEEDED)]
)
def test_clients_of_all_versions_are_told_how_long_to_wait(
    broker: BrokerProcess, version: int, code: ErrorCode
) -> None:
    require("java")
    with JavaTools(broker) as tools:
        limit(tools, "--entity-default", rate=1)
    ask(broker.bootstrap, creation("large", 12), version, CreateTopicsResponse)
    created = ask(broker.bootstrap, creation("next", 1), version, CreateTopicsResponse)
    grown = ask(broker.bootstrap, GROWTH, version - 3, CreatePartitionsResponse)
    deletion = DeleteTopicsRequest(topic_names=["large"], topics=[], timeout_ms=10_000)
    deleted = ask(broker.bootstrap, deletion, version - 1, DeleteTopicsResponse)
    assert created.topics[0].error_code == code
    assert grown.results[0].error_code == code
    assert deleted.responses[0].error_code == code
    for answer in (created, grown, deleted):
        assert 5_000 < answer.throttle_time_ms <= 25_000
