"""What IncrementalAlterConfigs makes of a resource's settings (KIP-339).

Each `alter_...` returns the new settings, checked. Not here: the request (apis), ACLs, writing it
down (controller). AlterConfigs, which replaces all settings, needs only checking.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from snakka.config.broker import BrokerConfig
from snakka.config.checking import (
    ErrorKind,
    SettingsError,
    check_broker,
    check_client_metrics,
    check_group,
    check_topic,
)
from snakka.config.group import GroupConfig
from snakka.config.key import Key, Type, Value
from snakka.config.keys import (
    BROKER_KEYS,
    BROKER_QUOTA_KEYS,
    CLIENT_METRICS_KEYS,
    GROUP_KEYS,
    TOPIC_KEYS,
)
from snakka.config.names import base_name
from snakka.config.topic import TopicConfig
from snakka.config.values import render


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    name: str
    operation: Operation
    value: str | None = None


def alter_topic(
    alterations: Iterable[Alteration], current: Mapping[str, str], broker: BrokerConfig
) -> dict[str, str]:
    defaults = TopicConfig(broker, {}).values
    altered = apply_alterations(alterations, current, TOPIC_KEYS, defaults)
    check_topic(altered, current, broker)
    return altered


def alter_group(
    alterations: Iterable[Alteration], current: Mapping[str, str], broker: BrokerConfig
) -> dict[str, str]:
    defaults = GroupConfig(broker, {}).values
    altered = apply_alterations(alterations, current, GROUP_KEYS, defaults)
    check_group(altered, broker)
    return altered


def alter_client_metrics(
    alterations: Iterable[Alteration], current: Mapping[str, str]
) -> dict[str, str]:
    altered = apply_alterations(alterations, current, CLIENT_METRICS_KEYS, {})
    check_client_metrics(altered)
    return altered


def alter_broker(
    alterations: Iterable[Alteration], broker: BrokerConfig, *, is_default: bool
) -> dict[str, str]:
    """What is set for one broker while it runs, or with `is_default` for all brokers."""
    current = broker.dynamic_default if is_default else broker.dynamic
    keys = {**BROKER_KEYS, **BROKER_QUOTA_KEYS}
    altered = apply_alterations(alterations, current, keys, broker.values)
    check_broker(altered, broker, is_default=is_default)
    return altered


def apply_alterations(
    alterations: Iterable[Alteration],
    current: Mapping[str, str],
    keys: Mapping[str, Key],
    defaults: Mapping[str, Value],
) -> dict[str, str]:
    """The settings that `current` becomes; a list that is not set is edited from its default."""
    altered = dict(current)
    seen: set[str] = set()
    for each in alterations:
        if each.name in seen:
            raise SettingsError(f"{each.name}: it is altered twice", ErrorKind.INVALID_REQUEST)
        seen.add(each.name)
        if each.operation is Operation.DELETE:
            altered.pop(each.name, None)
        elif each.value is None:
            raise SettingsError(f"{each.name}: it needs a value", ErrorKind.INVALID_REQUEST)
        elif each.operation is Operation.SET:
            altered[each.name] = each.value
        else:
            old = current.get(each.name, render(defaults.get(each.name)))
            altered[each.name] = _edited(each, each.value, old or "", keys)
    return altered


def _edited(alteration: Alteration, value: str, old: str, keys: Mapping[str, Key]) -> str:
    key = keys.get(base_name(alteration.name))
    if key is None or key.type is not Type.LIST:
        reason = f"{alteration.operation.name} is for lists, which this is not"
        raise SettingsError(f"{alteration.name}: {reason}")
    values = [each for each in old.split(",") if each]
    for each in value.split(","):
        if alteration.operation is Operation.APPEND and each not in values:
            values.append(each)
        elif alteration.operation is Operation.SUBTRACT and each in values:
            values.remove(each)
    return ",".join(values)
