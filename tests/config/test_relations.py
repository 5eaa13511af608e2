"""What keys want of each other."""

import pytest

from tests.config.making import loaded, problems_of


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"broker.id": "2"}, "it must be node.id (1)"),
        ({"controller.quorum.voters": "2@h:1"}, "it must name node.id 1"),
        ({"log.retention.ms": "0"}, "it must be at least 1, or -1"),
        ({"log.roll.ms": "0"}, "it must be at least 1"),
        ({"log.cleaner.threads": "128"}, "log.cleaner.dedupe.buffer.size must be more than 1 MiB"),
        ({"cordoned.log.dirs": "/x"}, "/x is not one of log.dirs"),
        ({"queued.max.request.bytes": "5"}, "at least socket.request.max.bytes (104857600)"),
        ({"max.connections.per.ip": "0"}, "it can be 0 only with"),
        ({"max.connections.per.ip.overrides": "h"}, "is not of the form host:limit"),
        ({"connections.max.idle.ms": "50"}, "must be less than connections.max.idle.ms (50)"),
        ({"group.share.heartbeat.interval.ms": "15001"}, "it must be at most group.share.max."),
        (
            {
                "group.consumer.max.heartbeat.interval.ms": "50000",
                "group.consumer.heartbeat.interval.ms": "45000",
            },
            "it must be less than group.consumer.session.timeout.ms (45000)",
        ),
    ],
)
def test_conflicts(changes: dict[str, str], reason: str) -> None:
    (problem,) = problems_of(changes)
    assert reason in problem


def test_a_controller_that_names_nobody_begins_alone() -> None:
    assert loaded({"controller.quorum.voters": ""}).get_list("controller.quorum.voters") == ()


def test_a_broker_has_to_find_the_controllers() -> None:
    problems = problems_of({"process.roles": "broker", "controller.quorum.voters": ""})
    assert any("a broker must be given this, or controller.quorum" in each for each in problems)


def test_a_node_that_is_no_controller_does_not_vote() -> None:
    problems = problems_of({"process.roles": "broker"})
    assert any("controller.quorum.voters" in each and "must not name" in each for each in problems)


def test_what_is_wrong_in_itself_is_not_said_to_conflict_too() -> None:
    (problem,) = problems_of({"replica.fetch.wait.max.ms": "x", "replica.lag.time.max.ms": "1"})
    assert "whole number" in problem
