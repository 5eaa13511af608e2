"""What decisions need of the configuration's definitions, which are not the controller's."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from snakka.metadata.keys import ConfigResource
from snakka.protocol.messages.create_topics import CreatableTopicConfigs


class ConfigRules(Protocol):
    """The keys there are, their defaults and their rules."""

    def validate(
        self, resource: ConfigResource, configs: Mapping[str, str], before: Mapping[str, str]
    ) -> None:
        """Raises ValueError, with Kafka's message, when a resource cannot have these configs."""

    def is_list(self, resource_type: int, name: str) -> bool:
        """Whether values may be appended to and taken from."""

    def default(self, resource_type: int, name: str) -> str | None:
        """The value in force where none is set, this node's own configuration included."""

    def describe_topic(
        self, configs: Mapping[str, str], inherited: Sequence[Mapping[str, str]]
    ) -> list[CreatableTopicConfigs]:
        """All configs of a topic with these of its own, and those of brokers, nearest first."""
