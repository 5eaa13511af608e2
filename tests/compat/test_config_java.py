"""Kafka's own definitions say what every key is, and how values, files and listeners are read."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest

from snakka.config import keys
from snakka.config.broker import BrokerConfig
from snakka.config.checking import (
    SettingsError,
    check_client_metrics,
    check_group,
    check_topic,
)
from snakka.config.endpoints import InvalidEndpointError, endpoints
from snakka.config.key import Key, Type
from snakka.config.keys.security import AUTHORIZER
from snakka.config.names import broker_synonyms
from snakka.config.properties import parse_properties
from snakka.config.rules import Each
from snakka.config.values import InvalidValueError, parse, render
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram

AUTHORIZER_NAMES = {key.name for key in AUTHORIZER}
# Kafka takes any word, and stops at start when it is the name of no class.
CLASS_NAMES = {"group.consumer.assignors"}
RESOURCES: Mapping[str, Mapping[str, Key]] = {
    "broker": {name: key for name, key in keys.BROKER_KEYS.items() if name not in AUTHORIZER_NAMES},
    "topic": keys.TOPIC_KEYS,
    "group": keys.GROUP_KEYS,
    "client-metrics": keys.CLIENT_METRICS_KEYS,
    "broker-quota": keys.BROKER_QUOTA_KEYS,
    "user-quota": keys.CLIENT_QUOTA_KEYS,
    "ip-quota": keys.ADDRESS_QUOTA_KEYS,
}

WORDS = ("x", " gzip ", "GZIP", "CreateTime", "SSL", "none", "RS256", "es256", "upgrade", "latest")
DURATIONS = ("P1D", "PT1.5S", "P", "PT", "-P1D", "P1M", "pt5m", "P1DT2H", "T1S")
LISTS = ("", "a", "a,b", "a , b", "a,a", "a,,b", "delete", "delete,compact", "broker", "consumer")
ADDRESSES = ("1@h:9093", "1@h", "x@h:1", "h:9093", "h:9093,h:9093", "[::1]:9093", "h:x", "a b:1")
REPLICAS = ("*", "0:1", "0:1,1:2", "0:1,0:1", "0:1,*")
DOUBLES = ("0", "1", "0.5", "1.5", "-0.1", ".5", "1e3", "1e10", "0.00001", "12345678.9", "abc")

TEXTS = {
    Type.BOOLEAN: ("true", "FALSE", " true ", "yes", "1", ""),
    Type.SHORT: ("0", "1", "-1", "32767", "32768", "x"),
    Type.INT: ("0", "1", "-1", "-2", " 5 ", "+3", "3.0", "0x10", "1_000", "", "2147483648"),
    Type.LONG: ("0", "1", "-1", "-2", "-3", str(2**63 - 1), str(2**63), "1L", ""),
    Type.DOUBLE: (*DOUBLES, "1d", "NaN", "Infinity", "1_0"),
    Type.LIST: (*LISTS, *ADDRESSES, *REPLICAS),
    Type.STRING: ("", *WORDS, "EARLIEST", *(f"by_duration:{each}" for each in DURATIONS)),
    Type.PASSWORD: (" a b ", ""),
}

PROPERTIES = (
    "a=b\nc: d\ne f\n  g  =  h  \n#x=y\n!z=1\n\nlast",
    "a=one\\\n   two\\\n\\\n  three\nb=1",
    "a=one\\\n# no comment\nb=2",
    "a\\=b=c\\ d\\t\\u0041\\q\nk\\:\\ l = \\ m",
    "a=x\\\\\nb=y\\\\\\\nz",
    "a==b\na.b:=c\r\nd=1\re=2",
    "dup=1\ndup=2",
    "=nameless\nempty=\nend=\\",
    "\u00e5=\u00f8",
)

LISTENERS = (
    "PLAINTEXT://:9092",
    "plaintext://localhost:9092",
    "PLAINTEXT://[::1]:9092,SSL://127.0.0.1:9092",
    "PLAINTEXT://[::1]:9092,SSL://127.0.0.1:9092,CONTROLLER://:9092",
    "PLAINTEXT://127.0.0.1:9092,SSL://127.0.0.2:9092",
    "PLAINTEXT://a:9092,SSL://b:9092",
    "PLAINTEXT://:0,SSL://:0",
    "PLAINTEXT://a:9092,PLAINTEXT://b:9093",
    "EXTERNAL://a:9092",
    "PLAINTEXT://a",
    "a:9092",
    "PLAINTEXT://under_score:9092",
    "PLAINTEXT://a b:9092",
    "PLAINTEXT://a.b-c:9092",
)


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(JAVA_SOURCES / "Configs.java") as program:
        yield program


def ask(java: JavaProgram, what: str, **of: str) -> dict[str, object]:
    answer = json.loads(java.ask(json.dumps({"ask": what, **of})))
    assert isinstance(answer, dict)
    return answer


def facts(key: Key) -> dict[str, object]:
    return {
        "type": key.type.name,
        "importance": key.importance.name,
        "required": key.is_required,
        "default": render(key.default),
        "valid": str(key.rule) if key.rule and not isinstance(key.rule, Each) else None,
        "internal": key.is_internal,
    }


@pytest.mark.parametrize("resource", RESOURCES)
def test_keys_are_those_of_kafka(java: JavaProgram, resource: str) -> None:
    theirs = ask(java, "keys", of=resource)
    ours = RESOURCES[resource]
    assert set(theirs) == set(ours)
    for name, key in ours.items():
        expected = theirs[name]
        assert isinstance(expected, dict)
        if isinstance(key.rule, Each):  # what it wants is shown by test_values_mean_the_same
            expected["valid"] = None
        if not expected["valid"] and key.type is Type.LIST:
            expected["valid"] = facts(key)["valid"] or None
        assert facts(key) | {"valid": facts(key)["valid"] or None} == expected, name


def test_keys_change_while_the_broker_runs_as_in_kafka(java: JavaProgram) -> None:
    theirs = ask(java, "update modes")
    ours = {**RESOURCES["broker"], **RESOURCES["broker-quota"]}
    assert {name: key.update.value for name, key in ours.items() if key.is_dynamic} == theirs


def test_defaults_of_topics_and_groups_come_from_the_same_keys(java: JavaProgram) -> None:
    topics = ask(java, "topic synonyms")
    assert {name: list(key.synonyms) for name, key in keys.TOPIC_KEYS.items() if key.synonyms} == (
        topics
    )
    groups = ask(java, "group synonyms")
    assert {name: (*key.synonyms, None)[0] for name, key in keys.GROUP_KEYS.items()} == groups


def test_broker_keys_have_the_same_synonyms(java: JavaProgram) -> None:
    names = [*RESOURCES["broker"], "listener.name.internal.ssl.key.password"]
    names.append("listener.name.internal.scram-sha-256.sasl.jaas.config")
    for name in names:
        theirs = json.loads(java.ask(json.dumps({"ask": "broker synonyms", "name": name})))
        assert list(broker_synonyms(name)) == theirs


@pytest.mark.parametrize("resource", RESOURCES)
def test_values_mean_the_same(java: JavaProgram, resource: str) -> None:
    for name, key in RESOURCES[resource].items():
        for text in TEXTS.get(key.type, ()):
            theirs = ask(java, "parse", of=resource, name=name, value=text)
            try:
                value = render(parse(key, text))
            except InvalidValueError:
                takes_it = "problem" not in theirs and name not in CLASS_NAMES
                assert not takes_it, f"we refuse {name}={text!r}, Kafka takes it"
            else:
                assert theirs == {"value": value}, f"{name}={text!r}"


@pytest.mark.parametrize("text", PROPERTIES)
def test_property_files_are_read_alike(java: JavaProgram, text: str) -> None:
    ours = {each.name: each.value for each in parse_properties(text)}
    assert ours == ask(java, "properties", text=text)


@pytest.mark.parametrize("value", LISTENERS)
def test_listeners_are_read_alike(java: JavaProgram, value: str) -> None:
    theirs = ask(java, "listeners", value=value)
    config = BrokerConfig({"listeners": value, "controller.listener.names": "CONTROLLER"})
    if "SSL" in value:
        protocols = "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT"
        config = BrokerConfig({**config.static, "listener.security.protocol.map": protocols})
    try:
        found = endpoints(config).listeners
    except InvalidEndpointError:
        assert "problem" in theirs
        return
    listed = theirs["endpoints"]
    assert isinstance(listed, list)
    assert [
        [each.listener, each.host or None, each.port, each.protocol.value] for each in found
    ] == [[name, host or None, *rest] for name, host, *rest in listed]


TIERED = {"remote.storage.enable": "true"}
TOPICS: tuple[tuple[dict[str, str], dict[str, str], bool], ...] = (
    ({}, {}, False),
    ({"retention.ms": "1", "cleanup.policy": "compact,delete"}, {}, False),
    ({"retention.m": "1"}, {}, False),
    ({"retention.ms": "-2"}, {}, False),
    ({"min.compaction.lag.ms": "2", "max.compaction.lag.ms": "1"}, {}, False),
    (TIERED, {}, False),
    (TIERED, {}, True),
    ({**TIERED, "cleanup.policy": "compact"}, {}, True),
    ({**TIERED, "cleanup.policy": "compact,delete"}, {}, True),
    ({**TIERED, "cleanup.policy": ""}, {}, True),
    ({**TIERED, "retention.ms": "5", "local.retention.ms": "6"}, {}, True),
    ({**TIERED, "retention.ms": "-1", "local.retention.ms": "6"}, {}, True),
    ({**TIERED, "retention.ms": "-1", "local.retention.ms": "-1"}, {}, True),
    ({**TIERED, "retention.ms": "5", "local.retention.ms": "-1"}, {}, True),
    ({**TIERED, "retention.bytes": "5", "local.retention.bytes": "6"}, {}, True),
    ({**TIERED, "retention.bytes": "7", "local.retention.bytes": "6"}, {}, True),
    ({**TIERED, "remote.log.copy.disable": "true"}, {}, True),
    ({**TIERED, "remote.log.copy.disable": "true", "local.retention.ms": "6"}, {}, True),
    (
        {**TIERED, "remote.log.copy.disable": "true"}
        | {"local.retention.bytes": "6", "retention.bytes": "6"},
        {},
        True,
    ),
    ({}, TIERED, True),
    ({"remote.log.delete.on.disable": "true"}, TIERED, True),
)


@pytest.mark.parametrize(("settings", "current", "tiered"), TOPICS)
def test_the_same_topics_are_refused(
    java: JavaProgram, settings: dict[str, str], current: dict[str, str], tiered: bool
) -> None:
    asked = {"ask": "check topic", "settings": settings, "current": current, "tiered": tiered}
    theirs = json.loads(java.ask(json.dumps(asked)))
    broker = BrokerConfig({"remote.log.storage.system.enable": str(tiered)})
    assert outcome(lambda: check_topic(settings, current, broker)) == theirs.get("error"), theirs


@pytest.mark.parametrize("name", keys.GROUP_KEYS)
def test_the_same_groups_are_refused(java: JavaProgram, name: str) -> None:
    for text in ("0", "1", "2", "3", "11", "99", "4999", "15001", "44999", "60001", "x", "true"):
        settings = {name: text}
        theirs = json.loads(java.ask(json.dumps({"ask": "check group", "settings": settings})))
        ours = outcome(partial(check_group, settings, BrokerConfig({})))
        assert ours == theirs.get("error"), (settings, theirs)


@pytest.mark.parametrize(
    "settings",
    [
        {"interval.ms": "100", "match": "client_id=a.*", "metrics": "*"},
        {"interval.ms": "99"},
        {"interval.ms": "x"},
        {"interval": "1"},
        {"match": "client_id"},
        {"match": "client=a"},
        {"match": "client_id=("},
        {"match": ""},
    ],
)
def test_the_same_subscriptions_are_refused(java: JavaProgram, settings: dict[str, str]) -> None:
    asked = {"ask": "check client-metrics", "settings": settings}
    theirs = json.loads(java.ask(json.dumps(asked)))
    assert outcome(lambda: check_client_metrics(settings)) == theirs.get("error"), theirs


def outcome(check: Callable[[], object]) -> str | None:
    try:
        check()
    except SettingsError as error:
        return error.kind.value
    return None
