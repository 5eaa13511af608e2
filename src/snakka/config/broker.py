"""The configuration of a broker: the texts that were given for keys, and the values in force.

Four layers, each over the next: what was set for this broker while it runs, what was set for all
brokers, what it was started with, and the defaults. Immutable: `with_dynamic` makes a new one.
Not here: checking what was given (loading.py), what DescribeConfigs says of it (describing.py).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from snakka.config.key import HOUR_MS, MINUTE_MS, Value
from snakka.config.keys import BROKER_KEYS, BROKER_QUOTA_KEYS
from snakka.config.names import LISTENER_PREFIX, broker_synonyms, find_described_key
from snakka.config.typed import TypedValues
from snakka.config.values import parse

UNLIMITED: Final = -1
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})
_MS_PER_UNIT: Final = {"hours": HOUR_MS, "minutes": MINUTE_MS}


class BrokerConfig(TypedValues):
    """Values by key. What was given is taken to be valid: loading.py makes sure of that."""

    def __init__(
        self,
        static: Mapping[str, str],
        dynamic_default: Mapping[str, str] = _EMPTY,
        dynamic: Mapping[str, str] = _EMPTY,
    ) -> None:
        self.static = static
        self.dynamic_default = dynamic_default
        self.dynamic = dynamic
        self._given = {**_with_node_id(static), **dynamic_default, **dynamic}
        keys = (*BROKER_KEYS.values(), *BROKER_QUOTA_KEYS.values())
        values: dict[str, Value] = {key.name: key.default for key in keys}
        for name, text in self._given.items():
            if (key := find_described_key(name)) is not None:
                values[name] = parse(key, text)
        super().__init__(MappingProxyType(values))

    def with_dynamic(
        self, dynamic_default: Mapping[str, str], dynamic: Mapping[str, str]
    ) -> "BrokerConfig":
        """The same broker, with other settings made while it runs."""
        return BrokerConfig(self.static, dynamic_default, dynamic)

    def is_given(self, name: str) -> bool:
        return name in self._given

    def for_listener(self, listener: str, mechanism: str | None = None) -> TypedValues:
        """The values as one listener has them, and one SASL mechanism on it."""
        values = dict(self.values)
        prefixes = [f"{LISTENER_PREFIX}{listener.lower()}."]
        if mechanism is not None:
            prefixes.append(f"{prefixes[0]}{mechanism.lower()}.")
        for prefix in prefixes:
            for name, value in self.values.items():
                if name.startswith(prefix) and (base := name.removeprefix(prefix)) in BROKER_KEYS:
                    values[base] = value
        return TypedValues(values)

    def with_prefix(self, prefix: str) -> Mapping[str, str]:
        """The settings of a plugin, whose names nobody knows here, without their prefix."""
        return {
            name.removeprefix(prefix): text
            for name, text in self._given.items()
            if name.startswith(prefix)
        }

    def get_ms(self, name: str) -> int:
        """A time that may be given in several units; a negative one is unlimited."""
        for synonym in broker_synonyms(name):
            if (amount := self.find_int(synonym)) is not None:
                unit_ms = _MS_PER_UNIT.get(synonym.rpartition(".")[2], 1)
                return amount * unit_ms if amount >= 0 else UNLIMITED
        raise KeyError(name)

    @property
    def node_id(self) -> int:
        return self.get_int("node.id")

    @property
    def log_directories(self) -> tuple[str, ...]:
        return self.find_list("log.dirs") or self.get_list("log.dir")

    @property
    def metadata_log_directory(self) -> str:
        return self.find_text("metadata.log.dir") or self.log_directories[0]


def _with_node_id(static: Mapping[str, str]) -> Mapping[str, str]:
    """`broker.id` serves as `node.id` where that is not given, and the other way round."""
    for name, other in (("node.id", "broker.id"), ("broker.id", "node.id")):
        if name in static and other not in static:
            return {**static, other: static[name]}
    return static
