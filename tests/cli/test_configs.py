"""`snakka configs`."""

from typing import Any

from tests.cli.running import Cli


def value(cli: Cli, key: str, *resource: str) -> Any:
    shown = cli.json("configs", "describe", *resource, "--all")
    return {each["key"]: each["value"] for each in shown}[key]


def test_a_topics_settings_are_set_and_unset(cli: Cli) -> None:
    cli("topics", "create", "tuned")
    topic = ("topic", "tuned")
    default = value(cli, "retention.ms", *topic)
    said = cli("configs", "set", *topic, "retention.ms=1000", "segment.bytes=2000000")
    assert "set retention.ms, segment.bytes of topic tuned" in said
    assert value(cli, "retention.ms", *topic) == "1000"
    shown = cli("configs", "describe", *topic)
    assert [line.split()[:2] for line in shown.splitlines()[1:]] == [
        ["retention.ms", "1000"],
        ["segment.bytes", "2000000"],
    ]
    cli("configs", "unset", *topic, "retention.ms")
    assert value(cli, "retention.ms", *topic) == default


def test_brokers_one_and_all(cli: Cli) -> None:
    assert value(cli, "node.id", "broker", "1") == "1"
    cli("configs", "set", "broker", "default", "log.retention.ms=5000")
    assert value(cli, "log.retention.ms", "broker", "default") == "5000"
    assert value(cli, "log.retention.ms", "broker", "1") == "5000"
    cli("configs", "unset", "broker", "default", "log.retention.ms")


def test_a_group(cli: Cli) -> None:
    cli("configs", "set", "group", "readers", "consumer.session.timeout.ms=50000")
    assert value(cli, "consumer.session.timeout.ms", "group", "readers") == "50000"


def test_what_is_wrong_is_refused(cli: Cli) -> None:
    cli("topics", "create", "refusing")
    refused = cli.refused("configs", "set", "topic", "refusing", "retention.ms=soon")
    assert "INVALID_CONFIG: retention.ms=soon" in refused
    assert "INVALID_CONFIG" in cli.refused("configs", "set", "topic", "refusing", "no.such=1")
    assert "UNKNOWN_TOPIC_OR_PARTITION" in cli.refused("configs", "describe", "topic", "gone")
    assert "no node 9" in cli.refused("configs", "describe", "broker", "9", "--timeout", "1")
