"""What a test asks of its broker: whether it serves, topics made in one call and read whole."""

import asyncio
from collections.abc import Mapping
from typing import Final

from snakka.client.admin.cluster import describe_cluster
from snakka.client.admin.topics import NewTopic, create_topics
from snakka.client.cluster import Cluster
from snakka.client.consumer import Consumer
from snakka.client.consumer_settings import ConsumerSettings, OffsetReset
from snakka.client.errors import KafkaError
from snakka.client.fetched import Fetched
from snakka.client.list_offsets import LATEST, IsolationLevel, list_offsets
from snakka.client.records import TopicPartition

_PAUSE_S: Final = 0.01
_SETTINGS: Final = ConsumerSettings(
    auto_offset_reset=OffsetReset.EARLIEST, isolation_level=IsolationLevel.READ_COMMITTED
)


async def until_serving(bootstrap_servers: str) -> None:
    """Returns once the controller takes the broker for alive."""
    async with Cluster(bootstrap_servers) as cluster:
        while any(each.is_fenced for each in (await describe_cluster(cluster)).nodes):
            await asyncio.sleep(_PAUSE_S)


async def create_topic(
    bootstrap_servers: str, name: str, partitions: int, configs: Mapping[str, str]
) -> None:
    """Returns once it is there; KafkaError where it cannot be."""
    async with Cluster(bootstrap_servers) as cluster:
        outcomes = await create_topics(cluster, [NewTopic(name, partitions, 1, configs)])
        if isinstance(error := outcomes[name], KafkaError):
            raise error


async def read_topic(bootstrap_servers: str, name: str) -> list[Fetched]:
    """What a reader of committed records gets up to the ends of now, partition by partition."""
    async with Cluster(bootstrap_servers) as cluster:
        topic = await cluster.get_topic(name)
        partitions = [TopicPartition(name, each) for each in topic.partitions]
        ends = await list_offsets(
            cluster, dict.fromkeys(partitions, LATEST), IsolationLevel.READ_COMMITTED
        )
        unread = {each for each in partitions if ends[each].offset > 0}
        fetched: list[Fetched] = []
        async with Consumer(cluster, _SETTINGS) as consumer:
            consumer.assign(unread)
            while unread:
                fetched += await consumer.poll()
                unread = {
                    each for each in unread if (consumer.position(each) or 0) < ends[each].offset
                }
    return sorted(fetched, key=lambda each: (each.partition, each.start_offset))
