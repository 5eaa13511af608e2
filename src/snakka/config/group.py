"""The configuration of a group: its own settings over what the broker gives as defaults.

Not here: what a group does with it (coordinators), how it is altered (altering.py).
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from snakka.config.broker import BrokerConfig
from snakka.config.key import Value
from snakka.config.keys import BROKER_KEYS, GROUP_KEYS
from snakka.config.relations import Conflict
from snakka.config.typed import TypedValues
from snakka.config.values import parse

_KINDS: Final = ("consumer", "share", "streams")


class GroupConfig(TypedValues):
    """Values by key. `overrides` are the group's own settings, and valid (altering.py)."""

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        self.overrides = overrides
        values: dict[str, Value] = {
            name: broker.values[key.synonyms[0]] if key.synonyms else key.default
            for name, key in GROUP_KEYS.items()
        }
        for name, text in overrides.items():
            if name in GROUP_KEYS:
                values[name] = parse(GROUP_KEYS[name], text)
        super().__init__(MappingProxyType(values))


def find_group_conflicts(group: GroupConfig, broker: BrokerConfig) -> Iterator[Conflict]:
    """The broker says how far groups may go, by `group.KIND.min.WHAT` and `group.KIND.max.WHAT`."""
    for name in GROUP_KEYS:
        kind, _, what = name.partition(".")
        lowest = f"group.{kind}.min.{what}"
        highest = f"group.{kind}.max.{what.removeprefix('num.')}"
        if lowest in BROKER_KEYS and group.get_int(name) < broker.get_int(lowest):
            yield Conflict((name,), f"it must be at least {lowest} ({broker.get_int(lowest)})")
        if highest in BROKER_KEYS and group.get_int(name) > broker.get_int(highest):
            yield Conflict((name,), f"it must be at most {highest} ({broker.get_int(highest)})")
    for kind in _KINDS:
        heartbeat, session = f"{kind}.heartbeat.interval.ms", f"{kind}.session.timeout.ms"
        if group.get_int(heartbeat) >= group.get_int(session):
            reason = f"it must be more than {heartbeat} ({group.get_int(heartbeat)})"
            yield Conflict((session, heartbeat), reason)
