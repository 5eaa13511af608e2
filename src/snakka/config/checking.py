"""Whether a topic, a group, a subscription of metrics or a broker may have some settings.

Each function raises SettingsError, whose kind names Kafka's error code. Not here: how new settings
come of old ones (altering.py), the checks when a broker starts (loading.py).
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.group import GroupConfig, find_group_conflicts
from snakka.config.key import Key, Update
from snakka.config.keys import CLIENT_METRICS_KEYS, GROUP_KEYS, TOPIC_KEYS
from snakka.config.names import LISTENER_KEYS, find_described_key, why_unknown
from snakka.config.problems import nearest
from snakka.config.relations import Conflict, find_conflicts
from snakka.config.topic import TopicConfig, find_topic_conflicts
from snakka.config.values import InvalidValueError, parse, split

_PUSH_INTERVAL_MS: Final = (100, 3_600_000)
_MATCHED: Final = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)


class ErrorKind(Enum):
    """The names of Kafka's error codes."""

    INVALID_CONFIG = "INVALID_CONFIG"
    INVALID_REQUEST = "INVALID_REQUEST"


class SettingsError(Exception):
    def __init__(self, reason: str, kind: ErrorKind = ErrorKind.INVALID_CONFIG) -> None:
        super().__init__(reason)
        self.kind = kind


def check_topic(
    settings: Mapping[str, str], current: Mapping[str, str], broker: BrokerConfig
) -> TopicConfig:
    """The configuration the topic will have; a topic that is created has no current settings."""
    _check_values(settings, TOPIC_KEYS, "topic")
    topic = TopicConfig(broker, settings)
    tiered = broker.get_bool("remote.log.storage.system.enable")
    for conflict in find_topic_conflicts(topic, tiered_is_enabled=tiered):
        raise _of(conflict)
    was_tiered = current.get("remote.storage.enable", "").strip().lower() == "true"
    is_tiered = topic.get_bool("remote.storage.enable")
    if was_tiered and not is_tiered and not topic.get_bool("remote.log.delete.on.disable"):
        raise SettingsError(
            "remote.storage.enable: turned off, it would strand what is in tiered storage; set "
            "remote.log.delete.on.disable=true to delete that, or keep it on with "
            "remote.log.copy.disable=true to go on reading it"
        )
    return topic


def check_group(settings: Mapping[str, str], broker: BrokerConfig) -> GroupConfig:
    """The configuration the group will have."""
    _check_values(settings, GROUP_KEYS, "group")
    group = GroupConfig(broker, settings)
    for conflict in find_group_conflicts(group, broker):
        raise _of(conflict)
    return group


def check_client_metrics(settings: Mapping[str, str]) -> None:
    _check_values(settings, CLIENT_METRICS_KEYS, "client metrics", ErrorKind.INVALID_REQUEST)
    lowest, highest = _PUSH_INTERVAL_MS
    if "interval.ms" in settings and not lowest <= int(settings["interval.ms"]) <= highest:
        reason = f"interval.ms: it must be between {lowest} and {highest}"
        raise SettingsError(reason, ErrorKind.INVALID_REQUEST)
    for pattern in split(settings.get("match", "").strip()):
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    what, _, expression = (part.strip() for part in pattern.partition("="))
    if what not in _MATCHED or not expression:
        reason = f"{pattern!r} is not of the form NAME=REGEX, NAME one of {', '.join(_MATCHED)}"
        raise SettingsError(f"match: {reason}")
    try:
        re.compile(expression)
    except re.error as error:
        raise SettingsError(f"match: {expression!r} is no regular expression: {error}") from None


def check_broker(
    settings: Mapping[str, str], broker: BrokerConfig, *, is_default: bool
) -> BrokerConfig:
    """The configuration the broker will have; `is_default`: the settings are for all brokers."""
    kind = ErrorKind.INVALID_REQUEST
    for name, text in settings.items():
        key = find_described_key(name)
        if key is None:
            raise SettingsError(f"{name}: {why_unknown(name)}", kind)
        _check_may_change(name, key, is_default=is_default)
        _check_value(name, text, key, kind)
    if is_default:
        after = broker.with_dynamic(settings, broker.dynamic)
    else:
        after = broker.with_dynamic(broker.dynamic_default, settings)
    before = set(find_conflicts(broker))
    for conflict in find_conflicts(after):
        if conflict not in before:
            raise _of(conflict, kind)
    return after


def _check_may_change(name: str, key: Key, *, is_default: bool) -> None:
    kind = ErrorKind.INVALID_REQUEST
    is_prefixed = name != key.name
    if not key.is_dynamic:
        raise SettingsError(f"{name}: it is read when the broker starts, and only then", kind)
    if not is_prefixed and key.name.startswith(("ssl.", "sasl.")):
        reason = f"it changes for one listener at a time: listener.name.NAME.{name}"
        raise SettingsError(f"{name}: {reason}", kind)
    is_per_broker = key.update is Update.PER_BROKER
    if is_prefixed:
        is_per_broker = key.name not in LISTENER_KEYS or key.name == "principal.builder.class"
    if is_default and is_per_broker:
        raise SettingsError(f"{name}: it is set for one broker, not for all of them", kind)


def _check_values(
    settings: Mapping[str, str],
    keys: Mapping[str, Key],
    what: str,
    unknown: ErrorKind = ErrorKind.INVALID_CONFIG,
) -> None:
    for name, text in settings.items():
        if name not in keys:
            raise SettingsError(f"{name}: unknown {what} key{nearest(name, keys)}", unknown)
        _check_value(name, text, keys[name], ErrorKind.INVALID_CONFIG)


def _check_value(name: str, text: str, key: Key, kind: ErrorKind) -> None:
    try:
        parse(key, text)
    except InvalidValueError as invalid:
        shown = name if key.is_sensitive else f"{name}={text}"
        reason = f"{shown}: {invalid}{nearest(text, invalid.options)}"
        raise SettingsError(reason, kind) from None


def _of(conflict: Conflict, kind: ErrorKind = ErrorKind.INVALID_CONFIG) -> SettingsError:
    return SettingsError(f"{conflict.names[0]}: {conflict.reason}", kind)
