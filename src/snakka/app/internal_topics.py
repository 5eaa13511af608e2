"""How many partitions a coordinator's topic has: as it was made, or as it would be."""

from collections.abc import Callable

from snakka.config.broker import BrokerConfig
from snakka.metadata.image import MetadataImage


def partition_count(
    config: BrokerConfig, find_image: Callable[[], MetadataImage], name: str, key: str
) -> Callable[[], int]:
    def count() -> int:
        topic = find_image().topics.find(name)
        return config.get_int(key) if topic is None else len(topic.partitions)

    return count
