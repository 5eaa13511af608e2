"""What parts of the image are found by: resources with configuration, entities with quotas."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from snakka.protocol.internal.metadata import EntityData


class ConfigType(IntEnum):
    """The kinds of resource that have a configuration, by their number in the protocol."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """One resource. The broker without a name is the default of all brokers."""

    type: int
    name: str

    @classmethod
    def topic(cls, name: str) -> "ConfigResource":
        return cls(ConfigType.TOPIC, name)

    @classmethod
    def broker(cls, broker_id: int | None = None) -> "ConfigResource":
        return cls(ConfigType.BROKER, "" if broker_id is None else str(broker_id))


USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

# Who a quota is for, as sorted pairs of one of these types and a name; None stands for the default
# of the type.
QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]


def quota_entity(parts: Iterable[tuple[str, str | None]]) -> QuotaEntity:
    return tuple(sorted(parts, key=lambda part: part[0]))


def quota_entity_data(entity: QuotaEntity) -> list[EntityData]:
    return [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]


class ScramKey(NamedTuple):
    """Whose SCRAM credential, and of which mechanism (1: SHA-256, 2: SHA-512)."""

    user: str
    mechanism: int
