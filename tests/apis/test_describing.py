"""DescribeTopicPartitions page by page, and DescribeLogDirs."""

from pathlib import Path

import pytest

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, Provenance
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.internal.metadata import PartitionRecord, TopicRecord
from snakka.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from snakka.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from snakka.protocol.types import Uuid
from tests.apis.broker import NODE_ID, TestBroker, run


@pytest.fixture
def broker(tmp_path: Path) -> TestBroker:
    made = TestBroker(tmp_path)
    delta = MetadataDelta(EMPTY)
    for name, count in (("b", 3), ("a", 2)):
        topic_id = Uuid(name.encode() * 16)
        delta.replay(TopicRecord(name=name, topic_id=topic_id))
        for index in range(count):
            delta.replay(
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id,
                    replicas=[NODE_ID],
                    isr=[NODE_ID],
                    removing_replicas=[],
                    adding_replicas=[],
                    leader=NODE_ID,
                )
            )
    made.image = delta.after(Provenance(10, 1, 0))
    return made


Page = tuple[list[tuple[str | None, list[int]]], Cursor | None]


def page(broker: TestBroker, limit: int, cursor: Cursor | None, *names: str) -> Page:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor,
    )
    answer = run(broker.ask(request, 0, DescribeTopicPartitionsResponse))
    told = [
        (topic.name, [each.partition_index for each in topic.partitions]) for topic in answer.topics
    ]
    return told, answer.next_cursor


def test_all_topics_in_the_order_of_their_names(broker: TestBroker) -> None:
    assert page(broker, 100, None) == ([("a", [0, 1]), ("b", [0, 1, 2])], None)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_pages_follow_each_other_without_gap_or_repetition(broker: TestBroker, limit: int) -> None:
    told: list[tuple[str | None, int]] = []
    cursor = None
    for _ in range(10):
        topics, cursor = page(broker, limit, cursor)
        found = [(name, index) for name, indexes in topics for index in indexes]
        assert len(found) <= limit
        told += found
        if cursor is None:
            break
    assert told == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]


def test_a_topic_that_is_not_there(broker: TestBroker) -> None:
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="c")])
    (topic,) = run(broker.ask(request, 0, DescribeTopicPartitionsResponse)).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_log_directory(broker: TestBroker, tmp_path: Path) -> None:
    broker.create("t")
    broker.create("u")
    asked = DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic="t", partitions=[0, 7])])
    (result,) = run(broker.ask(asked, 4, DescribeLogDirsResponse)).results
    assert (result.log_dir, result.total_bytes, result.usable_bytes) == (str(tmp_path), 100, 40)
    assert [(topic.name, len(topic.partitions)) for topic in result.topics] == [("t", 1)]
    everything = DescribeLogDirsRequest(topics=None)
    (result,) = run(broker.ask(everything, 4, DescribeLogDirsResponse)).results
    assert [topic.name for topic in result.topics] == ["t", "u"]
