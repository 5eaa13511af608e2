"""The driver's commit against a broker: once, whole, and whatever another driver did before."""

import threading
from collections.abc import Iterator
from random import Random
from uuid import uuid4

import pytest
from confluent_kafka import Consumer

from snakka.client.records import TopicPartition
from snakka.client.settings import DEFAULT_SETTINGS
from snakka.client.transactions import Transactions
from snakka.pipeline.cluster_thread import ClusterAddress, ClusterThread
from snakka.pipeline.committing import SINK_PREFIX, Committer
from snakka.pipeline.encoding import Encoder, for_producer
from snakka.pipeline.errors import StagedRecordsLostError, StaleStateError
from snakka.pipeline.producing import produce
from snakka.pipeline.rows import Row
from snakka.pipeline.staging import STAGING_PREFIX, Staged, delete_up_to, ensure_topic
from snakka.pipeline.versions import Numbered, Transition
from snakka.protocol.records.batch import batches
from snakka.protocol.records.compression import Compression
from tests.compat.broker_process import BrokerProcess
from tests.pipeline.topics import make_topic

TIMEOUT_MS = 30_000


class Write:
    """One application and its topic of two partitions."""

    def __init__(self, thread: ClusterThread, bootstrap: str) -> None:
        self.thread = thread
        self.bootstrap = bootstrap
        self.application_id = uuid4().hex
        self.staging_topic = STAGING_PREFIX + self.application_id
        self.topic = make_topic(bootstrap, 2)
        thread.run(ensure_topic(thread.cluster, self.staging_topic))

    def stage(self, *values: str) -> list[Staged]:
        """What a task does: a batch for each value, in turn to both partitions."""
        staged = []
        for index, value in enumerate(values):
            encoder = Encoder(
                lambda _: 2, 0, batch_bytes=1, compression=Compression.NONE, rng=Random()
            )
            full = encoder.add(Row(self.topic, index % 2, None, value.encode(), ()))
            assert full is not None
            (batch,) = batches(full.data)
            work = produce(
                self.thread.cluster, TopicPartition(self.staging_topic, index % 4), full.data
            )
            offset = self.thread.run(work)
            staged.append(Staged(index % 4, offset, batch.header.crc, full.where))
        return staged

    def committer(self) -> Committer:
        return Committer(self.thread, self.application_id, self.staging_topic, TIMEOUT_MS)

    def visible(self) -> list[str]:
        """What a reader of committed records sees."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": uuid4().hex,
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        consumer.subscribe([self.topic])
        values, ends = [], 0
        while ends < 2:
            message = consumer.poll(30)
            assert message is not None
            if message.error() is not None:
                ends += 1
            else:
                value = message.value()
                assert value is not None
                values.append(value.decode())
        consumer.close()
        return sorted(values)


@pytest.fixture
def write(broker: BrokerProcess) -> Iterator[Write]:
    thread = ClusterThread(ClusterAddress(broker.bootstrap, DEFAULT_SETTINGS))
    yield Write(thread, broker.bootstrap)
    thread.close()


def test_a_version_becomes_visible_once_however_often_it_is_committed(write: Write) -> None:
    first = write.stage("a", "b", "c", "d", "e")
    ends = write.committer().commit(first, Numbered(0))
    assert {where.partition for where in ends} == {0, 1, 2, 3}
    assert write.committer().commit(first, Numbered(0)) == {}
    assert (
        write.committer().commit(write.stage("a", "b"), Numbered(0)) == {}
    )  # repeated, tasks and all
    write.committer().commit(write.stage("f"), Numbered(1))
    assert write.committer().commit(write.stage("x"), Numbered(0)) == {}
    assert write.visible() == ["a", "b", "c", "d", "e", "f"]


def test_nothing_is_a_version_as_well(write: Write) -> None:
    assert write.committer().commit([], Numbered(0)) == {}
    assert write.committer().commit(write.stage("late"), Numbered(0)) == {}
    assert write.visible() == []


def test_what_a_dead_driver_left_open_is_aborted(write: Write) -> None:
    staged = write.stage("a", "b")
    dead = Transactions(write.thread.cluster, SINK_PREFIX + write.application_id, TIMEOUT_MS)
    identity = write.thread.run(dead.initialize())
    dead.begin()
    for index, value in enumerate(("half", "done")):
        encoder = Encoder(lambda _: 2, 0, batch_bytes=1, compression=Compression.NONE, rng=Random())
        full = encoder.add(Row(write.topic, index, None, value.encode(), ()))
        assert full is not None
        (batch,) = batches(full.data)
        data = for_producer(batch, identity.producer_id, identity.epoch, 0)
        if dead.must_announce(full.where):
            write.thread.run(dead.announce(full.where))
        work = produce(
            write.thread.cluster,
            full.where,
            data,
            transactional_id=SINK_PREFIX + write.application_id,
            version_max=dead.produce_version_max,
        )
        write.thread.run(work)

    write.committer().commit(staged, Numbered(0))

    assert write.visible() == ["a", "b"]


def test_staged_records_that_are_gone_make_nothing_visible(write: Write) -> None:
    staged = write.stage("a", "b")
    first = TopicPartition(write.staging_topic, staged[0].partition)
    write.thread.run(delete_up_to(write.thread.cluster, {first: staged[0].offset + 1}))
    with pytest.raises(StagedRecordsLostError, match=write.staging_topic):
        write.committer().commit(staged, Numbered(0))
    write.committer().commit(write.stage("c"), Numbered(0))
    assert write.visible() == ["c"]


def test_other_records_at_the_same_offset_are_not_taken_for_the_staged_ones(write: Write) -> None:
    (staged,) = write.stage("a")
    with pytest.raises(StagedRecordsLostError):
        write.committer().commit([staged._replace(crc=staged.crc ^ 1)], Numbered(0))
    write.committer().commit([staged], Numbered(0))
    assert write.visible() == ["a"]


def test_a_commit_that_is_overtaken_starts_anew(write: Write) -> None:
    """Two drivers at once: each fences the other, and the version is there once."""
    staged = write.stage(*(f"{i:02}" for i in range(20)))
    other = ClusterThread(ClusterAddress(write.bootstrap, DEFAULT_SETTINGS))
    rival = Committer(other, write.application_id, write.staging_topic, TIMEOUT_MS)
    at_once = threading.Thread(target=rival.commit, args=(staged, Numbered(0)))
    at_once.start()
    write.committer().commit(staged, Numbered(0))
    at_once.join()
    other.close()
    assert write.visible() == [f"{i:02}" for i in range(20)]


def test_a_state_is_left_once_and_from_where_the_write_began(write: Write) -> None:
    write.committer().commit(write.stage("a"), Transition("", "one"))
    write.committer().commit(write.stage("a"), Transition("", "one"))
    with pytest.raises(StaleStateError, match="the state is one where none was expected"):
        write.committer().commit(write.stage("b"), Transition("", "two"))
    write.committer().commit(write.stage("c"), Transition("one", "two"))
    assert write.visible() == ["a", "c"]
    note = write.committer().find_note()
    assert note is not None
    assert note.metadata == "two"
