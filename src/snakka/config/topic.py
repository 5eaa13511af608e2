"""The configuration of a topic: its own settings over what the broker gives as defaults.

Not here: what a log does with it (storage), how it is altered (altering.py).
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from snakka.config.broker import BrokerConfig
from snakka.config.key import Value
from snakka.config.keys import TOPIC_KEYS
from snakka.config.relations import Conflict
from snakka.config.typed import TypedValues
from snakka.config.values import parse

AS_RETENTION = -2  # of local.retention.*: the same as retention.*


class TopicConfig(TypedValues):
    """Values by key. `overrides` are the topic's own settings, and valid (altering.py)."""

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        self.overrides = overrides
        values = dict(topic_defaults(broker))
        for name, text in overrides.items():
            if name in TOPIC_KEYS:
                values[name] = parse(TOPIC_KEYS[name], text)
        super().__init__(MappingProxyType(values))

    @property
    def is_deleted(self) -> bool:
        return "delete" in self.get_list("cleanup.policy")

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.get_list("cleanup.policy")

    @property
    def segment_bytes(self) -> int:
        """`segment.bytes`, or the internal key that has no lower bound."""
        return self.find_int("internal.segment.bytes") or self.get_int("segment.bytes")


def topic_defaults(broker: BrokerConfig) -> Mapping[str, Value]:
    """What a topic without settings of its own has on this broker."""
    defaults: dict[str, Value] = {}
    for name, key in TOPIC_KEYS.items():
        match key.synonyms:
            case ():
                defaults[name] = key.default
            case (synonym,):
                defaults[name] = broker.values[synonym]
            case (synonym, *_):
                defaults[name] = broker.get_ms(synonym)
    return defaults


def find_topic_conflicts(topic: TopicConfig, *, tiered_is_enabled: bool) -> Iterator[Conflict]:
    """What a topic's keys want of each other."""
    least, most = "min.compaction.lag.ms", "max.compaction.lag.ms"
    if topic.get_int(least) > topic.get_int(most):
        yield Conflict((least, most), f"it must be at most {most} ({topic.get_int(most)})")
    if not topic.get_bool("remote.storage.enable"):
        return
    if not tiered_is_enabled:
        reason = "tiered storage is not enabled on the brokers (remote.log.storage.system.enable)"
        yield Conflict(("remote.storage.enable",), reason)
    if topic.is_compacted:
        reason = "a topic in tiered storage cannot be compacted"
        yield Conflict(("cleanup.policy", "remote.storage.enable"), reason)
    yield from _local_retention(topic, "retention.ms")
    yield from _local_retention(topic, "retention.bytes")


def _local_retention(topic: TopicConfig, name: str) -> Iterator[Conflict]:
    """What is kept locally is at most what is kept at all, and all of it when nothing is copied."""
    local_name = f"local.{name}"
    local, total = topic.get_int(local_name), topic.get_int(name)
    if local in (AS_RETENTION, total):
        return
    if topic.get_bool("remote.log.copy.disable"):
        reason = f"it must equal {name} ({total}) while remote.log.copy.disable is true"
        yield Conflict((local_name, name), reason)
    elif total >= 0 and (local < 0 or local > total):
        yield Conflict((local_name, name), f"it must be at most {name} ({total})")
