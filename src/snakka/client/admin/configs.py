"""Configuration of topics, brokers and groups: what is in force, and changing it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeVar

from snakka.client.cluster import Cluster
from snakka.client.errors import check
from snakka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from snakka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from snakka.protocol.schema import Request, Response

_R = TypeVar("_R", bound=Response)


class ResourceType(IntEnum):
    TOPIC = 2
    BROKER = 4
    GROUP = 32


class ConfigSource(IntEnum):
    """Where a value comes from."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8

    @classmethod
    def _missing_(cls, value: object) -> "ConfigSource | None":
        return cls.UNKNOWN if isinstance(value, int) else None


class ConfigResource(NamedTuple):
    """What is configured; a broker without a name stands for all of them."""

    type: ResourceType
    name: str


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A setting; the value of a sensitive one is not told."""

    name: str
    value: str | None
    source: ConfigSource
    is_sensitive: bool
    is_read_only: bool

    @property
    def is_default(self) -> bool:
        return self.source is ConfigSource.DEFAULT_CONFIG


async def describe_configs(cluster: Cluster, resource: ConfigResource) -> list[ConfigEntry]:
    """All settings of a resource, by name."""
    asked = DescribeConfigsResource(
        resource_type=resource.type, resource_name=resource.name, configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=[asked])
    answer = await _ask(cluster, resource, request, DescribeConfigsResponse)
    (result,) = answer.results
    check(result.error_code, result.error_message)
    entries = (
        ConfigEntry(
            each.name,
            each.value,
            ConfigSource(each.config_source),
            each.is_sensitive,
            each.read_only,
        )
        for each in result.configs
    )
    return sorted(entries, key=lambda entry: entry.name)


class _Operation(IntEnum):
    SET = 0
    DELETE = 1


async def alter_configs(
    cluster: Cluster,
    resource: ConfigResource,
    values: Mapping[str, str],
    unset: Collection[str] = (),
) -> None:
    """Sets values, and takes others back to what they are without being set."""
    configs = [
        AlterableConfig(name=name, config_operation=_Operation.SET, value=value)
        for name, value in values.items()
    ]
    configs += [
        AlterableConfig(name=name, config_operation=_Operation.DELETE, value=None) for name in unset
    ]
    altered = AlterConfigsResource(
        resource_type=resource.type, resource_name=resource.name, configs=configs
    )
    request = IncrementalAlterConfigsRequest(resources=[altered], validate_only=False)
    answer = await _ask(cluster, resource, request, IncrementalAlterConfigsResponse)
    (result,) = answer.responses
    check(result.error_code, result.error_message)


async def _ask(
    cluster: Cluster, resource: ConfigResource, request: Request, response: type[_R]
) -> _R:
    """A single broker's settings are its own to tell and to change."""
    if resource.type is ResourceType.BROKER and resource.name:
        return await cluster.ask_node(int(resource.name), request, response)
    return await cluster.ask_controller(request, response)
