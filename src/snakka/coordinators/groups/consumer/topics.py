"""What the coordinator has to know of topics; a port, since metadata is another room's."""

from typing import Final, NamedTuple, Protocol

from snakka.protocol.types import Uuid


class TopicInfo(NamedTuple):
    """A topic as far as it can be assigned."""

    topic_id: Uuid
    name: str
    partition_count: int


class Topics(Protocol):
    """The topics that there are now."""

    @property
    def version(self) -> int:
        """A higher number whenever anything about a topic has changed."""

    def find(self, name: str) -> TopicInfo | None: ...

    def find_by_id(self, topic_id: Uuid) -> TopicInfo | None: ...

    def match(self, expression: str) -> frozenset[str]:
        """The names that an expression of RE2's syntax matches; InvalidExpressionError."""


class NoTopics:
    """Before there is metadata: members join, and are given nothing."""

    version = 0

    def find(self, name: str) -> None:
        return None

    def find_by_id(self, topic_id: Uuid) -> None:
        return None

    def match(self, expression: str) -> frozenset[str]:
        return frozenset()


NO_TOPICS: Final = NoTopics()
