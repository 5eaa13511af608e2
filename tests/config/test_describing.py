"""What DescribeConfigs shows: values, sources, synonyms, and no secrets."""

from collections.abc import Iterable

from snakka.config.describing import (
    Described,
    Source,
    Synonym,
    describe_broker,
    describe_broker_defaults,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from snakka.config.group import GroupConfig
from snakka.config.key import Type
from snakka.config.keys import BROKER_KEYS, GROUP_KEYS, TOPIC_KEYS
from snakka.config.topic import TopicConfig
from tests.config.making import loaded


def by_name(described: Iterable[Described]) -> dict[str, Described]:
    return {each.name: each for each in described}


def test_a_broker_shows_all_its_keys() -> None:
    shown = by_name(describe_broker(loaded()))
    assert set(shown) == {name for name, key in BROKER_KEYS.items() if not key.is_internal}


def test_where_a_brokers_value_comes_from() -> None:
    broker = loaded({"message.max.bytes": "1", "num.partitions": "3"})
    broker = broker.with_dynamic({"message.max.bytes": "2"}, {"message.max.bytes": "3"})
    shown = by_name(describe_broker(broker))
    name = "message.max.bytes"
    assert shown[name] == Described(
        name,
        "3",
        Source.DYNAMIC_BROKER_CONFIG,
        Type.INT,
        False,
        False,
        [
            Synonym(name, "3", Source.DYNAMIC_BROKER_CONFIG),
            Synonym(name, "2", Source.DYNAMIC_DEFAULT_BROKER_CONFIG),
            Synonym(name, "1", Source.STATIC_BROKER_CONFIG),
            Synonym(name, "1048588", Source.DEFAULT_CONFIG),
        ],
        BROKER_KEYS[name].doc,
    )
    assert shown["num.partitions"].source is Source.STATIC_BROKER_CONFIG
    assert shown["num.partitions"].is_read_only
    assert shown["fetch.max.bytes"].source is Source.DEFAULT_CONFIG
    assert shown["log.retention.ms"].value is None


def test_only_what_was_set_for_all_brokers() -> None:
    broker = loaded({"message.max.bytes": "1"}).with_dynamic({"message.max.bytes": "2"}, {})
    (shown,) = describe_broker_defaults(broker)
    assert shown.source is Source.DYNAMIC_DEFAULT_BROKER_CONFIG
    assert shown.synonyms == [Synonym("message.max.bytes", "2", shown.source)]


def test_secrets_are_hidden() -> None:
    name = "listener.name.plaintext.ssl.key.password"
    shown = by_name(describe_broker(loaded({name: "hush", "rsm.config.secret": "hush"})))
    assert shown[name].is_sensitive
    assert shown["rsm.config.secret"].is_sensitive
    assert "hush" not in repr(shown)


def test_a_listeners_key_is_a_synonym_of_the_key_of_all() -> None:
    name = "listener.name.plaintext.max.connections"
    shown = by_name(describe_broker(loaded({name: "5", "max.connections": "9"})))
    assert [(each.name, each.value) for each in shown[name].synonyms] == [
        (name, "5"),
        ("max.connections", "9"),
        ("max.connections", "2147483647"),
    ]


def test_a_topic_shows_its_own_values_and_its_brokers() -> None:
    broker = loaded({"log.segment.bytes": "1048576"})
    topic = TopicConfig(broker, {"segment.bytes": "2097152"})
    shown = by_name(describe_topic(topic, broker))
    assert set(shown) == {name for name, key in TOPIC_KEYS.items() if not key.is_internal}
    assert shown["segment.bytes"].source is Source.DYNAMIC_TOPIC_CONFIG
    assert [(each.name, each.value, each.source) for each in shown["segment.bytes"].synonyms] == [
        ("segment.bytes", "2097152", Source.DYNAMIC_TOPIC_CONFIG),
        ("log.segment.bytes", "1048576", Source.STATIC_BROKER_CONFIG),
        ("log.segment.bytes", "1073741824", Source.DEFAULT_CONFIG),
    ]
    assert shown["cleanup.policy"].source is Source.DEFAULT_CONFIG


def test_a_time_in_hours_is_no_source_of_one_in_milliseconds() -> None:
    """As in Kafka, where `log.retention.hours` alone leaves `retention.ms` a default."""
    broker = loaded({"log.retention.hours": "1"})
    shown = by_name(describe_topic(TopicConfig(broker, {}), broker))["retention.ms"]
    assert (shown.value, shown.source) == ("3600000", Source.DEFAULT_CONFIG)
    assert shown.synonyms == []


def test_a_group_shows_its_values() -> None:
    broker = loaded({"group.consumer.heartbeat.interval.ms": "6000"})
    group = GroupConfig(broker, {"consumer.session.timeout.ms": "50000"})
    shown = by_name(describe_group(group, broker))
    assert set(shown) == set(GROUP_KEYS)
    assert shown["consumer.session.timeout.ms"].source is Source.GROUP_CONFIG
    heartbeat = shown["consumer.heartbeat.interval.ms"]
    assert (heartbeat.value, heartbeat.source) == ("6000", Source.DEFAULT_CONFIG)


def test_a_subscription_shows_what_was_set() -> None:
    (shown,) = describe_client_metrics({"interval.ms": "1000"})
    assert (shown.value, shown.source) == ("1000", Source.CLIENT_METRICS_CONFIG)
