"""Creating, growing and deleting topics, and deleting records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from snakka.client.cluster import Cluster
from snakka.client.errors import KafkaError, check, kafka_error
from snakka.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from snakka.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from snakka.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from snakka.protocol.types import ZERO_UUID

BROKER_DEFAULT: Final = -1


@dataclass(frozen=True, slots=True)
class NewTopic:
    name: str
    partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """What came of a new topic; -1 where the node does not tell."""

    name: str
    partitions: int
    replication_factor: int


async def create_topics(
    cluster: Cluster, topics: Sequence[NewTopic], *, validate_only: bool = False
) -> dict[str, CreatedTopic | KafkaError]:
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=each.name,
                num_partitions=each.partitions,
                replication_factor=each.replication_factor,
                assignments=[],
                configs=[
                    CreatableTopicConfig(name=name, value=value)
                    for name, value in each.configs.items()
                ],
            )
            for each in topics
        ],
        timeout_ms=cluster.settings.request_timeout_ms,
        validate_only=validate_only,
    )
    answer = await cluster.ask_controller(request, CreateTopicsResponse)
    return {
        each.name: kafka_error(each.error_code, each.error_message)
        if each.error_code
        else CreatedTopic(each.name, each.num_partitions, each.replication_factor)
        for each in answer.topics
    }


async def delete_topics(cluster: Cluster, names: Sequence[str]) -> dict[str, KafkaError | None]:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=each, topic_id=ZERO_UUID) for each in names],
        topic_names=list(names),
        timeout_ms=cluster.settings.request_timeout_ms,
    )
    answer = await cluster.ask_controller(request, DeleteTopicsResponse)
    return {
        each.name or "": kafka_error(each.error_code, each.error_message)
        if each.error_code
        else None
        for each in answer.responses
    }


async def set_partition_count(cluster: Cluster, topic: str, count: int) -> None:
    """Adds partitions to a topic until it has `count`."""
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=topic, count=count, assignments=None)],
        timeout_ms=cluster.settings.request_timeout_ms,
        validate_only=False,
    )
    answer = await cluster.ask_controller(request, CreatePartitionsResponse)
    (result,) = answer.results
    check(result.error_code, result.error_message)
