"""Answers that are encoded once: they hold until topics or brokers change, and no longer."""

from pathlib import Path

import pytest

from snakka.apis.kept_answers import KeptAnswers
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, MetadataImage, Provenance
from snakka.protocol.frames import EncodedResponse
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    ConfigRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from snakka.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from snakka.protocol.types import Uuid
from tests.apis.broker import NODE_ID, TestBroker, run

TOPIC_ID = Uuid(b"t" * 16)

TOPIC = TopicRecord(name="t", topic_id=TOPIC_ID)
CONFIG = ConfigRecord(resource_type=2, resource_name="t", name="k", value="v")
BROKER = RegisterBrokerRecord(
    broker_id=NODE_ID,
    incarnation_id=Uuid(bytes(16)),
    broker_epoch=1,
    end_points=[],
    features=[],
    rack=None,
    fenced=False,
    log_dirs=[],
)


def partition(index: int) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=TOPIC_ID,
        replicas=[NODE_ID],
        isr=[NODE_ID],
        removing_replicas=[],
        adding_replicas=[],
        leader=NODE_ID,
    )


def after(image: MetadataImage, *records: MetadataRecord) -> MetadataImage:
    delta = MetadataDelta(image)
    for record in records:
        delta.replay(record)
    return delta.after(Provenance(image.provenance.offset + 1, 1, 0))


def answer_of(size_bytes: int) -> EncodedResponse:
    return EncodedResponse(1, bytearray(size_bytes))


@pytest.mark.parametrize("version", [4, 8, 9, 12])
def test_metadata_says_what_is_so_by_now(tmp_path: Path, version: int) -> None:
    broker = TestBroker(tmp_path)
    named = [MetadataRequestTopic(name="t")]

    def told(topics: list[MetadataRequestTopic] | None) -> list[int]:
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        answers = [run(broker.ask(request, version, MetadataResponse)) for _ in range(2)]
        assert answers[0] == answers[1]
        return [len(each.partitions) for each in answers[0].topics]

    assert (told(None), told([]), told(named)) == ([], [], [0])
    broker.image = after(broker.image, TOPIC, partition(0))
    assert (told(None), told([]), told(named)) == ([1], [], [1])
    broker.image = after(broker.image, partition(1))
    assert (told(None), told([]), told(named)) == ([2], [], [2])


@pytest.mark.parametrize(
    ("change", "holds"), [(CONFIG, True), (partition(0), False), (BROKER, False)]
)
def test_an_answer_holds_until_topics_or_brokers_change(
    change: MetadataRecord, holds: bool
) -> None:
    image = after(EMPTY, TOPIC)
    kept = KeptAnswers()
    assert kept.find("question", image) is None
    kept.keep("question", answer_of(10))
    assert kept.find("question", image) == answer_of(10)
    assert kept.find("another", image) is None
    assert (kept.find("question", after(image, change)) is not None) is holds


def test_answers_are_forgotten_where_they_grow_too_large() -> None:
    kept = KeptAnswers(size_bytes_max=8192)
    for question, size_bytes in enumerate((0, 4096, 4096, 8192)):
        assert kept.find(question, EMPTY) is None
        kept.keep(question, answer_of(size_bytes))
    found = [kept.find(question, EMPTY) is not None for question in range(4)]
    assert found == [False, False, True, False]
