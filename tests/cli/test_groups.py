"""`snakka groups`, of groups that other clients are in."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer

from snakka.testing import Broker
from tests.cli.running import Cli


@contextmanager
def member(broker: Broker, group: str, topic: str, protocol: str) -> Iterator[None]:
    """librdkafka in a group, having committed one record of partition 0."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "client.id": "reader",
            "log_level": 0,
        }
    )
    consumer.subscribe([topic])
    message = consumer.poll(30)
    assert message is not None
    consumer.commit(message=message, asynchronous=False)
    yield
    consumer.close()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_and_lag(cli: Cli, broker: Broker, protocol: str) -> None:
    topic = group = f"lagging-{protocol}"
    cli("produce", topic, stdin="a\nb\nc\n")
    with member(broker, group, topic, protocol):
        (listed,) = [each for each in cli.json("groups", "list") if each["group"] == group]
        assert (listed["type"], listed["state"]) == (protocol, "Stable")
        (described,) = cli.json("groups", "describe", group)
        assert [each["client_id"] for each in described["members"]] == ["reader"]
        (partition,) = described["partitions"]
        assert partition["member"] == described["members"][0]["id"]
        assert (partition["offset"], partition["end_offset"], partition["lag"]) == (1, 3, 2)
        (row,) = [
            line for line in cli("groups", "describe", group).splitlines() if "reader" in line
        ]
        assert row.split()[:6] == [topic, "0", "1", "3", "2", "reader"]
        assert "has members" in cli.refused("groups", "reset-offsets", group, "--to-latest")
        assert "NON_EMPTY_GROUP" in cli.refused("groups", "delete", group)
    assert cli.json("groups", "describe", group)[0]["members"] == []
    assert f"deleted {group}" in cli("groups", "delete", group)
    assert "GROUP_ID_NOT_FOUND" in cli.refused("groups", "describe", group)


def test_a_group_is_moved(cli: Cli) -> None:
    cli("topics", "create", "moved", "-p", "2")
    cli("produce", "moved", "-p", "0", stdin="v\n" * 10)
    everything = ["groups", "reset-offsets", "movers", "-t", "moved"]

    def positions() -> list[int]:
        (described,) = cli.json("groups", "describe", "movers")
        return [each["offset"] for each in described["partitions"]]

    assert "has no positions" in cli.refused("groups", "reset-offsets", "movers", "--to-latest")
    dry = cli.json(*everything, "--to-latest", "--dry-run")
    assert [(each["before"], each["after"]) for each in dry] == [(None, 10), (None, 0)]
    assert "GROUP_ID_NOT_FOUND" in cli.refused("groups", "describe", "movers")
    cli(*everything, "--to-latest")
    assert positions() == [10, 0]
    cli("groups", "reset-offsets", "movers", "-t", "moved:0", "--to-offset", "4")
    assert positions() == [4, 0]
    cli("groups", "reset-offsets", "movers", "--to-offset", "400")
    assert positions() == [10, 0]
    cli("groups", "reset-offsets", "movers", "--to-datetime", "2020-01-01")
    assert positions() == [0, 0]
    cli("groups", "reset-offsets", "movers", "--to-datetime", "2999-01-01T00:00:00+00:00")
    assert positions() == [10, 0]
    cli("groups", "reset-offsets", "movers", "--to-earliest")
    assert positions() == [0, 0]
    assert "moved has no partition 2" in cli.refused(
        "groups", "reset-offsets", "movers", "-t", "moved:2", "--to-earliest"
    )
