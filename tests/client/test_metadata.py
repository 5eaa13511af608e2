"""What is known of a cluster, answer by answer."""

from snakka.client.metadata import ClusterMetadata
from snakka.protocol.error_codes import ErrorCode
from snakka.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from snakka.protocol.types import Uuid

ID = Uuid(b"the id of topics")


def told(leader: int, epoch: int, *, code: int = 0, topic_id: Uuid = ID) -> MetadataResponse:
    partition = MetadataResponsePartition(
        error_code=0,
        partition_index=0,
        leader_id=leader,
        leader_epoch=epoch,
        replica_nodes=[1, 2],
        isr_nodes=[1],
        offline_replicas=[2],
    )
    topic = MetadataResponseTopic(
        error_code=code, name="topic", topic_id=topic_id, partitions=[partition]
    )
    broker = MetadataResponseBroker(node_id=leader, host="localhost", port=9092)
    return MetadataResponse(brokers=[broker], topics=[topic])


def leader(metadata: ClusterMetadata) -> tuple[int, int]:
    info = metadata.find_partition("topic", 0)
    assert info is not None
    return info.leader_id, info.leader_epoch


def test_a_node_that_lags_behind_does_not_take_back_a_newer_leader() -> None:
    metadata = ClusterMetadata().after(told(1, 5))
    assert leader(metadata.after(told(2, 6))) == (2, 6)
    assert leader(metadata.after(told(2, 4))) == (1, 5)
    assert leader(metadata.after(told(2, -1))) == (2, -1)  # epochs are not told


def test_a_topic_that_was_created_anew_starts_over() -> None:
    metadata = ClusterMetadata().after(told(1, 5))
    anew = metadata.after(told(2, 0, topic_id=Uuid(b"of the new topic")))
    assert leader(anew) == (2, 0)
    assert anew.find_topic_by_id(ID) is None


def test_a_refused_topic_is_known_no_more() -> None:
    metadata = ClusterMetadata().after(told(1, 5))
    refused = metadata.after(told(-1, -1, code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    assert refused.find_partition("topic", 0) is None
    assert refused.refusals == {"topic": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert refused.after(told(1, 5)).refusals == {}


def test_topics_that_an_answer_does_not_mention_stay() -> None:
    metadata = ClusterMetadata().after(told(1, 5))
    other = metadata.after(MetadataResponse(brokers=[], topics=[]))
    assert leader(other) == (1, 5)
    assert other.nodes == {}


def test_a_hint_at_a_leader_is_taken_if_it_is_news() -> None:
    metadata = ClusterMetadata().after(told(1, 5))
    assert leader(metadata.with_leader("topic", 0, 2, 6)) == (2, 6)
    assert metadata.with_leader("topic", 0, 2, 5) is metadata
    assert metadata.with_leader("topic", 9, 2, 6) is metadata
    assert metadata.with_leader("other", 0, 2, 6) is metadata
