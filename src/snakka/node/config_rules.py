"""The definitions of configuration keys, as the controller's decisions ask for them."""

from collections.abc import Iterator, Mapping, Sequence

from snakka.config.broker import BrokerConfig
from snakka.config.checking import (
    SettingsError,
    check_broker,
    check_client_metrics,
    check_group,
    check_topic,
)
from snakka.config.describing import describe_topic
from snakka.config.group import GroupConfig
from snakka.config.key import Key, Type
from snakka.config.keys import BROKER_KEYS, CLIENT_METRICS_KEYS, GROUP_KEYS, TOPIC_KEYS
from snakka.config.topic import TopicConfig
from snakka.config.values import render
from snakka.metadata.keys import ConfigResource, ConfigType
from snakka.protocol.messages.create_topics import CreatableTopicConfigs

_KEYS: Mapping[int, Mapping[str, Key]] = {
    ConfigType.TOPIC: TOPIC_KEYS,
    ConfigType.BROKER: BROKER_KEYS,
    ConfigType.GROUP: GROUP_KEYS,
    ConfigType.CLIENT_METRICS: CLIENT_METRICS_KEYS,
}


class NodeConfigRules:
    """The port of controller/ports.py, with this node's own configuration as the default."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._described_for: object = None
        self._described: list[CreatableTopicConfigs] = []

    def validate(
        self, resource: ConfigResource, configs: Mapping[str, str], before: Mapping[str, str]
    ) -> None:
        try:
            match resource.type:
                case ConfigType.TOPIC:
                    check_topic(configs, before, self._config)
                case ConfigType.BROKER:
                    check_broker(configs, self._config, is_default=not resource.name)
                case ConfigType.GROUP:
                    check_group(configs, self._config)
                case ConfigType.CLIENT_METRICS:
                    check_client_metrics(configs)
        except SettingsError as error:
            raise ValueError(str(error)) from error

    def is_list(self, resource_type: int, name: str) -> bool:
        key = _KEYS.get(resource_type, {}).get(name)
        return key is not None and key.type is Type.LIST

    def default(self, resource_type: int, name: str) -> str | None:
        match resource_type:
            case ConfigType.TOPIC:
                return render(TopicConfig(self._config, {}).values.get(name))
            case ConfigType.GROUP:
                return render(GroupConfig(self._config, {}).values.get(name))
            case _:
                return render(self._config.values.get(name))

    def describe_topic(
        self, configs: Mapping[str, str], inherited: Sequence[Mapping[str, str]]
    ) -> list[CreatableTopicConfigs]:
        """Topics that are made together mostly have the same settings: the last are kept."""
        asked = (dict(configs), [dict(each) for each in inherited])
        if asked != self._described_for:
            self._described_for, self._described = asked, list(self._describe(*asked))
        return self._described

    def _describe(
        self, configs: Mapping[str, str], inherited: Sequence[Mapping[str, str]]
    ) -> Iterator[CreatableTopicConfigs]:
        nearest, cluster = (*inherited, {}, {})[:2]
        broker = self._config.with_dynamic(cluster, nearest)
        for each in describe_topic(TopicConfig(broker, configs), broker):
            yield CreatableTopicConfigs(
                name=each.name,
                value=each.value,
                read_only=each.is_read_only,
                config_source=each.source,
                is_sensitive=each.is_sensitive,
            )
