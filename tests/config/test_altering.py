"""SET, DELETE, APPEND, SUBTRACT, and what is refused with which code."""

import pytest

from snakka.config.altering import (
    Alteration,
    Operation,
    alter_broker,
    alter_client_metrics,
    alter_group,
    alter_topic,
)
from snakka.config.checking import ErrorKind, SettingsError
from tests.config.making import loaded

SET, DELETE, APPEND, SUBTRACT = Operation


def test_set_and_delete() -> None:
    current = {"retention.ms": "1", "flush.ms": "2"}
    alterations = [Alteration("retention.ms", SET, "5"), Alteration("flush.ms", DELETE)]
    assert alter_topic(alterations, current, loaded()) == {"retention.ms": "5"}


@pytest.mark.parametrize(
    ("operation", "value", "current", "altered"),
    [
        (APPEND, "compact", {}, "delete,compact"),
        (APPEND, "delete", {"cleanup.policy": "delete"}, "delete"),
        (APPEND, "delete,compact", {"cleanup.policy": "compact"}, "compact,delete"),
        (SUBTRACT, "compact", {"cleanup.policy": "compact,delete"}, "delete"),
        (SUBTRACT, "compact", {}, "delete"),
        (SUBTRACT, "delete", {}, ""),
    ],
)
def test_lists_grow_and_shrink(
    operation: Operation, value: str, current: dict[str, str], altered: str
) -> None:
    alteration = Alteration("cleanup.policy", operation, value)
    assert alter_topic([alteration], current, loaded()) == {"cleanup.policy": altered}


def test_a_list_that_was_set_to_nothing_grows_from_nothing() -> None:
    current = {"cleanup.policy": ""}
    alteration = Alteration("cleanup.policy", APPEND, "compact")
    assert alter_topic([alteration], current, loaded()) == {"cleanup.policy": "compact"}


@pytest.mark.parametrize(
    ("alterations", "kind", "reason"),
    [
        ([Alteration("retention.ms", APPEND, "1")], ErrorKind.INVALID_CONFIG, "for lists"),
        ([Alteration("retention.ms", SET, "x")], ErrorKind.INVALID_CONFIG, "whole number"),
        ([Alteration("retention", SET, "1")], ErrorKind.INVALID_CONFIG, "unknown topic key"),
        ([Alteration("retention.ms", SET)], ErrorKind.INVALID_REQUEST, "needs a value"),
        ([Alteration("flush.ms", DELETE)] * 2, ErrorKind.INVALID_REQUEST, "altered twice"),
    ],
)
def test_what_is_refused_of_a_topic(
    alterations: list[Alteration], kind: ErrorKind, reason: str
) -> None:
    with pytest.raises(SettingsError, match=reason) as raised:
        alter_topic(alterations, {}, loaded())
    assert raised.value.kind is kind


@pytest.mark.parametrize(
    ("name", "value", "is_default", "reason"),
    [
        ("num.partitions", "3", True, "read when the broker starts"),
        ("num.partitons", "3", True, "unknown key; did you mean num.partitions"),
        ("message.max.bytes", "-1", True, "at least 0"),
        ("ssl.keystore.location", "/k", False, "listener.name.NAME.ssl.keystore.location"),
        ("listener.name.plaintext.ssl.keystore.location", "/k", True, "for one broker"),
        ("listeners", "PLAINTEXT://h:1", True, "for one broker"),
        ("listener.name.nowhere.max.connections", "1", True, "no listener is 'nowhere'"),
        ("log.cleaner.min.compaction.lag.ms", str(2**63 - 1), True, "at most"),
    ],
)
def test_what_is_refused_of_a_broker(name: str, value: str, is_default: bool, reason: str) -> None:
    broker = loaded({"log.cleaner.max.compaction.lag.ms": "5"})
    with pytest.raises(SettingsError, match=reason) as raised:
        alter_broker([Alteration(name, SET, value)], broker, is_default=is_default)
    assert raised.value.kind is ErrorKind.INVALID_REQUEST


@pytest.mark.parametrize(
    ("name", "value", "is_default"),
    [
        ("message.max.bytes", "5", True),
        ("message.max.bytes", "5", False),
        ("num.io.threads", "5", True),
        ("leader.replication.throttled.rate", "5", False),
        ("listener.name.plaintext.max.connections", "5", True),
        ("listener.name.plaintext.ssl.keystore.location", "/k", False),
    ],
)
def test_what_a_broker_takes(name: str, value: str, is_default: bool) -> None:
    altered = alter_broker([Alteration(name, SET, value)], loaded(), is_default=is_default)
    assert altered == {name: value}


def test_groups_stay_within_what_the_broker_allows() -> None:
    name = "consumer.session.timeout.ms"
    assert alter_group([Alteration(name, SET, "50000")], {}, loaded()) == {name: "50000"}
    with pytest.raises(SettingsError, match=r"group[.]consumer[.]max[.]session[.]timeout[.]ms"):
        alter_group([Alteration(name, SET, "90000")], {}, loaded())
    with pytest.raises(SettingsError, match=r"group[.]streams[.]max[.]standby[.]replicas"):
        alter_group([Alteration("streams.num.standby.replicas", SET, "3")], {}, loaded())
    with pytest.raises(SettingsError, match="unknown group key"):
        alter_group([Alteration("session.timeout.ms", SET, "1")], {}, loaded())


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("interval.ms", "99", ErrorKind.INVALID_REQUEST),
        ("interval", "100", ErrorKind.INVALID_REQUEST),
        ("match", "client_id", ErrorKind.INVALID_CONFIG),
        ("match", "client=x", ErrorKind.INVALID_CONFIG),
        ("match", "client_id=(", ErrorKind.INVALID_CONFIG),
    ],
)
def test_what_is_refused_of_a_subscription(name: str, value: str, kind: ErrorKind) -> None:
    with pytest.raises(SettingsError) as raised:
        alter_client_metrics([Alteration(name, SET, value)], {})
    assert raised.value.kind is kind


def test_a_subscription() -> None:
    settings = {"interval.ms": "100", "match": "client_id=a.*,client_software_name=x"}
    alterations = [Alteration(name, SET, value) for name, value in settings.items()]
    assert alter_client_metrics(alterations, {}) == settings
