"""Topics that have just been created: whoever learns of a partition may write to it at once."""

import asyncio
from pathlib import Path

from snakka.client.admin.topics import NewTopic, create_topics
from snakka.client.cluster import Cluster
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from snakka.protocol.records.builder import build_batch
from snakka.protocol.records.record import Record
from snakka.protocol.types import Uuid
from tests.compat.broker_process import BrokerProcess

PARTITIONS = 500
PRODUCER_ID = 1000


def request(topic_id: Uuid, partition: int, sequence: int) -> ProduceRequest:
    batch = build_batch(
        [Record(0, 0, None, b"v")],
        producer_id=PRODUCER_ID,
        producer_epoch=0,
        base_sequence=sequence,
    )
    data = PartitionProduceData(index=partition, records=batch)
    topic = TopicProduceData(topic_id=topic_id, partition_data=[data])
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def test_batches_sent_ahead_are_all_written_in_their_order(tmp_path: Path) -> None:
    async def scenario(bootstrap: str) -> None:
        async with Cluster(bootstrap) as cluster:
            creation = asyncio.create_task(create_topics(cluster, [NewTopic("t", PARTITIONS, 1)]))
            topic = await cluster.get_topic("t")
            (node_id,) = {each.leader_id for each in topic.partitions.values()}

            async def produce(partition: int, sequence: int) -> PartitionProduceResponse:
                asked = request(topic.id, partition, sequence)
                answer = await cluster.ask_node(node_id, asked, ProduceResponse)
                return answer.responses[0].partition_responses[0]

            answers = await asyncio.gather(
                *(produce(at, sequence) for sequence in range(3) for at in range(PARTITIONS))
            )
            assert {each.error_code for each in answers} == {ErrorCode.NONE}
            await creation

    with BrokerProcess(tmp_path) as broker:
        asyncio.run(scenario(broker.bootstrap))
