"""What DescribeConfigs answers: every key with its value, where that comes from, and its synonyms.

KIP-133, KIP-226, KIP-524 (types and documentation). Not here: the request (apis), ACLs, log levels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.group import GroupConfig
from snakka.config.key import Key
from snakka.config.keys import (
    BROKER_KEYS,
    BROKER_QUOTA_KEYS,
    CLIENT_METRICS_KEYS,
    GROUP_KEYS,
    TOPIC_KEYS,
)
from snakka.config.names import broker_synonyms, find_described_key
from snakka.config.topic import TopicConfig
from snakka.config.values import parse, render

UNKNOWN_TYPE: Final = 0


class Source(IntEnum):
    """Where a value comes from, numbered as DescribeConfigs does."""

    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


@dataclass(frozen=True, slots=True)
class Synonym:
    name: str
    value: str | None  # None where it is sensitive
    source: Source


@dataclass(frozen=True, slots=True)
class Described:
    """One key as a client sees it."""

    name: str
    value: str | None  # None where it is sensitive, or not set
    source: Source
    type: int
    is_read_only: bool
    is_sensitive: bool
    synonyms: Sequence[Synonym]  # the first is the one in force
    doc: str | None


def describe_broker(config: BrokerConfig) -> Iterator[Described]:
    """Everything about one broker, also what only a plugin would know."""
    internal = {name for name, key in BROKER_KEYS.items() if key.is_internal}
    unset_quotas = {name for name in BROKER_QUOTA_KEYS if not config.is_given(name)}
    plugins = dict.fromkeys(config.static.keys() - config.values.keys())
    for name in (*config.values, *plugins):
        if name in unset_quotas or (name in internal and not config.is_given(name)):
            continue
        yield _broker_key(config, name, _broker_synonyms(config, name))


def describe_broker_defaults(config: BrokerConfig) -> Iterator[Described]:
    """What was set for all brokers of the cluster while they run."""
    for name in config.dynamic_default:
        yield _broker_key(config, name, _synonyms_in(config, name, _cluster_layers(config)))


def describe_topic(config: TopicConfig, broker: BrokerConfig) -> Iterator[Described]:
    for key in TOPIC_KEYS.values():
        if key.is_internal and key.name not in config.overrides:
            continue
        value = render(config.values[key.name])
        synonyms = list(_broker_synonyms(broker, key.synonyms[0])) if key.synonyms else []
        if key.name in config.overrides:
            synonyms.insert(0, Synonym(key.name, value, Source.DYNAMIC_TOPIC_CONFIG))
        yield _described(key, value, synonyms)


def describe_group(config: GroupConfig, broker: BrokerConfig) -> Iterator[Described]:
    """The value comes from the group, or is called a default even where a broker's key gives it."""
    for key in GROUP_KEYS.values():
        value = render(config.values[key.name])
        is_own = key.name in config.overrides
        source = Source.GROUP_CONFIG if is_own else Source.DEFAULT_CONFIG
        synonyms = [Synonym(key.name, value, source)]
        if key.synonyms:
            synonyms += _broker_synonyms(broker, key.synonyms[0])
        yield _described(key, value, synonyms)


def describe_client_metrics(overrides: Mapping[str, str]) -> Iterator[Described]:
    """A subscription has only what was set for it."""
    for name, text in overrides.items():
        key = CLIENT_METRICS_KEYS.get(name)
        if key is not None:
            value = render(parse(key, text))
            yield _described(key, value, [Synonym(name, value, Source.CLIENT_METRICS_CONFIG)])


def _described(key: Key, value: str | None, synonyms: Sequence[Synonym]) -> Described:
    source = synonyms[0].source if synonyms else Source.DEFAULT_CONFIG
    return Described(key.name, value, source, key.type, False, False, synonyms, key.doc)


def _broker_key(config: BrokerConfig, name: str, synonyms: Sequence[Synonym]) -> Described:
    key = find_described_key(name)
    # What nobody knows may be a password of a plugin.
    is_sensitive = key is None or key.is_sensitive
    return Described(
        name,
        None if is_sensitive else render(config.values[name]),
        synonyms[0].source if synonyms else Source.DEFAULT_CONFIG,
        UNKNOWN_TYPE if key is None else key.type,
        key is None or not key.is_dynamic,
        is_sensitive,
        synonyms,
        None if key is None else key.doc,
    )


_Layers = Sequence[tuple[Mapping[str, str], Source]]


def _layers(config: BrokerConfig) -> _Layers:
    return (
        (config.dynamic, Source.DYNAMIC_BROKER_CONFIG),
        (config.dynamic_default, Source.DYNAMIC_DEFAULT_BROKER_CONFIG),
        (config.static, Source.STATIC_BROKER_CONFIG),
        (_DEFAULTS, Source.DEFAULT_CONFIG),
    )


def _cluster_layers(config: BrokerConfig) -> _Layers:
    return ((config.dynamic_default, Source.DYNAMIC_DEFAULT_BROKER_CONFIG),)


def _broker_synonyms(config: BrokerConfig, name: str) -> Sequence[Synonym]:
    return _synonyms_in(config, name, _layers(config))


def _synonyms_in(config: BrokerConfig, name: str, layers: _Layers) -> Sequence[Synonym]:
    """All names and layers that give a value, in the order in which they count."""
    names = broker_synonyms(name)
    found = [
        Synonym(each, _shown(each, texts[each]), source)
        for texts, source in layers
        for each in names
        if each in texts
    ]
    # A key that others can be given for is not said to come from what has precedence over itself.
    while found and found[0].name != name:
        del found[0]
    return found


def _shown(name: str, text: str) -> str | None:
    key = find_described_key(name)
    return None if key is None or key.is_sensitive else text


_DEFAULTS: Final[Mapping[str, str]] = {
    name: text
    for name, key in BROKER_KEYS.items()
    if not key.is_required and (text := render(key.default)) is not None
}
