"""The topics of the cluster, as the group coordinator assigns them."""

from collections.abc import Callable

from snakka.coordinators.expressions import compile_expression
from snakka.coordinators.groups.consumer.topics import TopicInfo
from snakka.metadata.image import MetadataImage, Topic
from snakka.protocol.types import Uuid


class ImageTopics:
    """The port of coordinators/groups/consumer/topics.py over the newest image."""

    def __init__(self, find_image: Callable[[], MetadataImage]) -> None:
        self._find_image = find_image
        self._seen = find_image().topics
        self._version = -1

    @property
    def version(self) -> int:
        """The offset in the metadata log at which topics were last seen to have changed."""
        image = self._find_image()
        if image.topics is not self._seen:  # images share what did not change
            self._seen = image.topics
            self._version = image.provenance.offset
        return self._version

    def find(self, name: str) -> TopicInfo | None:
        return _info(self._find_image().topics.find(name))

    def find_by_id(self, topic_id: Uuid) -> TopicInfo | None:
        return _info(self._find_image().topics.by_id.get(topic_id))

    def match(self, expression: str) -> frozenset[str]:
        pattern = compile_expression(expression)
        names = (topic.name for topic in self._find_image().topics.by_id.values())
        return frozenset(name for name in names if pattern.fullmatch(name))


def _info(topic: Topic | None) -> TopicInfo | None:
    return None if topic is None else TopicInfo(topic.topic_id, topic.name, len(topic.partitions))
