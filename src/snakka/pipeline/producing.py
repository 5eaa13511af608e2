"""Whole record batches to the leaders of their partitions.

Not here: making them (encoding.py), the producer of a transaction (committing.py).
"""

from typing import Final

from snakka.client.cluster import Cluster
from snakka.client.errors import ClientError, KafkaError, check
from snakka.client.metadata import TopicInfo
from snakka.client.records import TopicPartition
from snakka.client.settings import ClientSettings
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.types import Buffer

ACKS_ALL: Final = -1
LANE: Final = "produce"
NO_OFFSET: Final = -1


async def produce(
    cluster: Cluster,
    where: TopicPartition,
    data: Buffer,
    *,
    transactional_id: str | None = None,
    version_max: int | None = None,
) -> int:
    """Appends one batch, and waits until it is committed; the offset it got.

    Tried again until it is there or refused for good: a batch without a producer may be there
    twice then, one with a sequence may not, and is NO_OFFSET if it was there already.
    """

    async def attempt() -> int:
        leader = await cluster.get_leader(where.topic, where.partition)
        topic = await cluster.get_topic(where.topic)
        request = _request(topic, where.partition, data, transactional_id, cluster.settings)
        try:
            connection = await cluster.connect(leader.leader_id, LANE)
            highest = connection.highest_version(ProduceRequest)
            answer = await connection.ask(
                request, ProduceResponse, version=min(highest, version_max or highest)
            )
            appended = answer.responses[0].partition_responses[0]
            check(appended.error_code, appended.error_message)
        except KafkaError as error:
            if error.code is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
                return NO_OFFSET
            if error.code.means_stale_metadata:
                cluster.mark_stale(where.topic)
            raise
        except ClientError:
            cluster.mark_stale(where.topic)
            raise
        return appended.base_offset

    return await cluster.retrying(attempt)


def _request(
    topic: TopicInfo,
    partition: int,
    data: Buffer,
    transactional_id: str | None,
    settings: ClientSettings,
) -> ProduceRequest:
    batch = PartitionProduceData(index=partition, records=data)
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=ACKS_ALL,
        timeout_ms=settings.request_timeout_ms,
        topic_data=[TopicProduceData(name=topic.name, topic_id=topic.id, partition_data=[batch])],
    )
