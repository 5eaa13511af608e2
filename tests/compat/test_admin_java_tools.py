"""Kafka's tools for quotas, credentials, configuration and access, against a broker process."""

from collections.abc import Iterator

import pytest

from tests.compat.broker_process import BrokerProcess
from tests.compat.java_tools import CONFIG_COMMAND, JavaTools


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaTools]:
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as broker:
        started = JavaTools(broker)
        with started:
            yield started


def configs(tools: JavaTools, *arguments: str) -> str:
    return tools.run(CONFIG_COMMAND, *arguments)


def test_quotas_are_set_described_and_removed(tools: JavaTools) -> None:
    ann = ("--entity-type", "users", "--entity-name", "ann")
    client = ("--entity-type", "clients", "--entity-default")
    assert "Completed" in configs(
        tools, "--alter", "--add-config", "producer_byte_rate=1000", *ann, *client
    )
    told = configs(tools, "--describe", *ann, *client)
    assert "user-principal 'ann', the default client-id are producer_byte_rate=1000.0" in told
    configs(tools, "--alter", "--delete-config", "producer_byte_rate", *ann, *client)
    assert "producer_byte_rate" not in configs(tools, "--describe", *ann, *client)
    told = tools.refusal(CONFIG_COMMAND, "--alter", "--add-config", "producer_byte_rate=0.5", *ann)
    assert "cannot be a fractional value" in told


def test_credentials_are_set_described_and_removed(tools: JavaTools) -> None:
    bob = ("--entity-type", "users", "--entity-name", "bob")
    scram = "SCRAM-SHA-256=[iterations=8192,password=secret]"
    configs(tools, "--alter", "--add-config", scram, *bob)
    told = configs(tools, "--describe", *bob)
    assert (
        "SCRAM credential configs for user-principal 'bob' are SCRAM-SHA-256=iterations=8192"
        in (told)
    )
    configs(tools, "--alter", "--delete-config", "SCRAM-SHA-256", *bob)
    assert "iterations" not in configs(tools, "--describe", *bob)


def test_subscriptions_to_client_metrics(tools: JavaTools) -> None:
    name = ("--name", "mine")
    tools.run("ClientMetricsCommand", "--alter", *name, "--interval", "5000", "--metrics", "a.")
    assert "mine" in tools.run("ClientMetricsCommand", "--list").split()
    told = tools.run("ClientMetricsCommand", "--describe", *name)
    assert "interval.ms=5000" in told
    assert "metrics=a." in told
    tools.run("ClientMetricsCommand", "--delete", *name)
    assert "mine" not in tools.run("ClientMetricsCommand", "--list").split()


def test_configuration_of_groups_and_brokers(tools: JavaTools) -> None:
    group = ("--entity-type", "groups", "--entity-name", "g")
    configs(tools, "--alter", "--add-config", "consumer.session.timeout.ms=50000", *group)
    assert "consumer.session.timeout.ms=50000" in configs(tools, "--describe", *group)
    everywhere = ("--entity-type", "brokers", "--entity-default")
    configs(tools, "--alter", "--add-config", "log.cleaner.backoff.ms=1234", *everywhere)
    assert "log.cleaner.backoff.ms=1234" in configs(tools, "--describe", *everywhere)
    told = tools.refusal(CONFIG_COMMAND, "--alter", "--add-config", "broker.rack=r", *everywhere)
    assert "broker.rack" in told


def test_access_rules_and_tokens_are_refused_as_kafka_does(tools: JavaTools) -> None:
    assert "SecurityDisabledException: No Authorizer is configured." in tools.refusal(
        "AclCommand", "--list"
    )
    assert "SecurityDisabledException: No Authorizer is configured." in tools.refusal(
        "AclCommand",
        *("--add", "--allow-principal", "User:ann", "--operation", "Read", "--topic", "t"),
    )


def test_a_broker_lists_its_apis(tools: JavaTools) -> None:
    told = tools.run("BrokerApiVersionsCommand")
    assert "Fetch(1): 4 to 18" in told
    assert "DescribeClientQuotas(48): 0 to 1" in told
    assert "UnregisterBroker(64): 0" in told
