"""Topics that the test makes up."""

import re
from dataclasses import dataclass, field

from snakka.coordinators.expressions import InvalidExpressionError
from snakka.coordinators.groups.consumer.topics import TopicInfo
from snakka.protocol.types import Uuid


@dataclass
class FakeTopics:
    version: int = 0
    by_name: dict[str, TopicInfo] = field(default_factory=dict)

    def put(self, name: str, partition_count: int) -> None:
        self.version += 1
        self.by_name[name] = TopicInfo(topic_id(name), name, partition_count)

    def find(self, name: str) -> TopicInfo | None:
        return self.by_name.get(name)

    def match(self, expression: str) -> frozenset[str]:
        try:
            pattern = re.compile(expression)
        except re.error as error:
            raise InvalidExpressionError(expression) from error
        return frozenset(name for name in self.by_name if pattern.fullmatch(name))

    def find_by_id(self, topic_id: Uuid) -> TopicInfo | None:
        return next((each for each in self.by_name.values() if each.topic_id == topic_id), None)


def topic_id(name: str) -> Uuid:
    return Uuid(name.encode().ljust(16))
