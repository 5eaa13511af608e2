"""Where the tasks of a write leave their batches until the driver commits them: a topic of its own.

Each application (a streaming query, or one batch write) has its staging topic. What was staged is
known by offset and checksum, so a log that lost it and went on with other records is noticed. What
was left by failed tasks goes with the next commit, by deletion of all records up to its last.

Not here: the commit (committing.py), and why it is done this way (sink.py).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from snakka.client.cluster import Cluster
from snakka.client.errors import check, kafka_error
from snakka.client.records import TopicPartition
from snakka.pipeline.offsets import Offsets
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from snakka.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from snakka.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from snakka.protocol.types import ZERO_UUID

STAGING_PREFIX: Final = "snakka-staging-"
PARTITIONS: Final = 4
BROKER_DEFAULT: Final = -1
_CONFIG: Final = {
    "cleanup.policy": "delete",
    "compression.type": "producer",  # else the broker may change a batch, and with it its checksum
    "message.timestamp.type": "CreateTime",
    "retention.ms": str(24 * 60 * 60 * 1000),  # of what nobody came back for
}


class Staged(NamedTuple):
    """A batch in the staging topic, and where it is to go."""

    partition: int
    offset: int
    crc: int
    target: TopicPartition


async def ensure_topic(cluster: Cluster, name: str) -> None:
    """Makes the staging topic, unless it is there; tasks do so side by side."""
    await cluster.retrying(lambda: cluster.refresh([name]))
    if name in cluster.metadata.topics:
        return
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=name,
                num_partitions=PARTITIONS,
                replication_factor=BROKER_DEFAULT,
                assignments=[],
                configs=[CreatableTopicConfig(name=key, value=_CONFIG[key]) for key in _CONFIG],
            )
        ],
        timeout_ms=cluster.settings.request_timeout_ms,
    )
    answer = await cluster.ask_controller(request, CreateTopicsResponse)
    code = answer.topics[0].error_code
    if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise kafka_error(code, answer.topics[0].error_message)
    cluster.mark_stale(name)


def first_offsets(staged: Iterable[Staged]) -> dict[int, int]:
    """Where to begin to read in each partition."""
    first: dict[int, int] = {}
    for each in staged:
        first[each.partition] = min(each.offset, first.get(each.partition, each.offset))
    return first


async def delete_up_to(cluster: Cluster, ends: Offsets) -> None:
    """Deletes what is before these offsets. It costs only room if that fails."""
    for where, end in ends.items():
        leader = await cluster.get_leader(where.topic, where.partition)
        request = DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name=where.topic,
                    partitions=[
                        DeleteRecordsPartition(partition_index=where.partition, offset=end)
                    ],
                )
            ],
            timeout_ms=cluster.settings.request_timeout_ms,
        )
        answer = await cluster.ask_node(leader.leader_id, request, DeleteRecordsResponse)
        check(answer.topics[0].partitions[0].error_code)


async def delete_topic(cluster: Cluster, name: str) -> None:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name, topic_id=ZERO_UUID)],
        topic_names=[name],
        timeout_ms=cluster.settings.request_timeout_ms,
    )
    answer = await cluster.ask_controller(request, DeleteTopicsResponse)
    for each in answer.responses:
        if each.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            check(each.error_code, each.error_message)
