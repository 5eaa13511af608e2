"""A topic's values: its own over its broker's."""

import pytest

from snakka.config.checking import ErrorKind, SettingsError, check_topic
from snakka.config.keys import TOPIC_KEYS
from snakka.config.topic import TopicConfig
from tests.config.making import loaded

TIERED = {"remote.storage.enable": "true"}


def test_without_a_word_a_topic_has_kafkas_defaults() -> None:
    defaults = {name: key.default for name, key in TOPIC_KEYS.items()}
    assert TopicConfig(loaded(), {}).values == defaults


def test_defaults_come_from_the_broker() -> None:
    broker = loaded(
        {"log.segment.bytes": "1048576", "log.retention.hours": "1", "log.roll.hours": "2"}
    )
    topic = TopicConfig(broker, {"segment.ms": "5"})
    assert topic.segment_bytes == 1048576
    assert topic.get_int("retention.ms") == 3_600_000
    assert topic.get_int("segment.ms") == 5


def test_defaults_follow_the_broker_while_it_runs() -> None:
    broker = loaded().with_dynamic({"log.retention.ms": "9"}, {})
    assert TopicConfig(broker, {}).get_int("retention.ms") == 9


@pytest.mark.parametrize(
    ("policy", "is_deleted", "is_compacted"),
    [("delete", True, False), ("compact", False, True), ("compact, delete", True, True)],
)
def test_cleanup(policy: str, is_deleted: bool, is_compacted: bool) -> None:
    topic = TopicConfig(loaded(), {"cleanup.policy": policy})
    assert (topic.is_deleted, topic.is_compacted) == (is_deleted, is_compacted)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"retention.m": "1"}, "retention.m: unknown topic key; did you mean retention.ms?"),
        ({"segment.bytes": "1"}, "segment.bytes=1: it must be at least 1048576"),
        (
            {"min.compaction.lag.ms": "2", "max.compaction.lag.ms": "1"},
            "min.compaction.lag.ms: it must be at most max.compaction.lag.ms (1)",
        ),
        ({**TIERED, "cleanup.policy": "compact"}, "cleanup.policy: a topic in tiered storage"),
        ({**TIERED, "retention.ms": "5", "local.retention.ms": "6"}, "at most retention.ms (5)"),
        ({**TIERED, "retention.bytes": "5", "local.retention.bytes": "-1"}, "at most retention.by"),
        (
            {**TIERED, "remote.log.copy.disable": "true", "local.retention.ms": "6"},
            "it must equal retention.ms (604800000)",
        ),
    ],
)
def test_what_a_topic_cannot_have(settings: dict[str, str], reason: str) -> None:
    broker = loaded({"remote.log.storage.system.enable": "true"})
    with pytest.raises(SettingsError) as raised:
        check_topic(settings, {}, broker)
    assert reason in str(raised.value)
    assert raised.value.kind is ErrorKind.INVALID_CONFIG


def test_tiered_storage_is_the_brokers_to_allow() -> None:
    with pytest.raises(SettingsError, match="tiered storage is not enabled"):
        check_topic(TIERED, {}, loaded())
    check_topic(TIERED, {}, loaded({"remote.log.storage.system.enable": "true"}))


def test_turning_tiered_storage_off_has_to_say_what_becomes_of_the_data() -> None:
    with pytest.raises(SettingsError, match="strand"):
        check_topic({}, TIERED, loaded())
    check_topic({"remote.log.delete.on.disable": "true"}, TIERED, loaded())
