"""What decisions need of what is not the controller's: definitions of configuration, the quorum."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from snakka.metadata.keys import ConfigResource
from snakka.protocol.messages.create_topics import CreatableTopicConfigs


class KraftVersion(Protocol):
    """The feature level that is the quorum's own: `kraft.version`."""

    @property
    def kraft_version(self) -> int: ...

    def check_kraft_version(self, version: int) -> None:
        """Raises ValueError, with Kafka's message, when the quorum cannot have that version."""


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
