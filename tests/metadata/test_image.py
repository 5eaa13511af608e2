import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snakka.metadata.delta import MetadataDelta
from snakka.metadata.difference import difference
from snakka.metadata.directories import LOST, MIGRATING, UNASSIGNED, is_online
from snakka.metadata.errors import ReplayError
from snakka.metadata.image import EMPTY, MetadataImage
from snakka.metadata.keys import ConfigResource
from snakka.metadata.snapshot import image_of, snapshot_records
from snakka.metadata.versions import LATEST, record_version
from snakka.protocol.internal.frames import METADATA_RECORDS, read_typed, write_typed
from snakka.protocol.internal.kinds import MetadataRecord
from snakka.protocol.internal.metadata import (
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ConfigRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from tests.metadata.making import (
    HERE,
    History,
    levels,
    log_dir,
    partition,
    register,
    replayed,
    topic,
    topic_id,
    uuid,
)


@given(st.integers(0, 2**32), st.integers(1, 120))
@settings(deadline=None)
def test_a_snapshot_holds_the_image_and_nothing_else(seed: int, count: int) -> None:
    image = replayed(*History(Random(seed)).draw(count))
    written = [
        write_typed(record, record_version(record, LATEST)) for record in snapshot_records(image)
    ]
    read = [read_typed(METADATA_RECORDS, each) for each in written]
    assert image_of(read, HERE) == image


@given(st.integers(0, 2**32), st.integers(1, 120), st.integers(1, 10))
@settings(deadline=None)
def test_how_records_are_batched_makes_no_difference(seed: int, count: int, step: int) -> None:
    records = list(History(Random(seed)).draw(count))
    image = EMPTY
    for start in range(0, len(records), step):
        image = replayed(*records[start : start + step], image=image)
    assert image == replayed(*records)


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 60))
@settings(deadline=None)
def test_the_difference_of_two_images_leads_from_one_to_the_other(
    seed: int, count: int, more: int
) -> None:
    history = History(Random(seed))
    before = replayed(*history.draw(count))
    after = replayed(*history.draw(more), image=before)
    assert difference(before, after).after(HERE) == after
    assert difference(after, before).after(HERE) == before


def test_ten_thousand_topics_are_rebuilt_from_a_snapshot_within_two_seconds() -> None:
    image = replayed(
        *(each for number in range(10_000) for each in topic(f"t{number}", number, (1,)))
    )
    written = [write_typed(each, record_version(each, LATEST)) for each in snapshot_records(image)]
    started = time.process_time()
    rebuilt = image_of((read_typed(METADATA_RECORDS, each) for each in written), HERE)
    assert time.process_time() - started < 2
    assert len(rebuilt.topics) == 10_000


def test_one_change_among_ten_thousand_topics_shares_the_others() -> None:
    image = replayed(
        *(each for number in range(10_000) for each in topic(f"t{number}", number, (1,)))
    )
    change = PartitionChangeRecord(partition_id=0, topic_id=topic_id(7), leader=-1)
    started = time.process_time()
    for _ in range(1_000):
        image = replayed(change, image=image)
    assert time.process_time() - started < 0.5
    assert image.topics.by_id[topic_id(7)].partitions[0].partition_epoch == 1_000


class TestTopics:
    image = replayed(*levels(), register(1), register(2), *topic("orders", 1, (1, 2), (2, 1)))

    def test_are_found_by_name_and_by_id(self) -> None:
        found = self.image.topics.find("orders")
        assert found is self.image.topics.by_id[topic_id(1)]
        assert found is not None
        assert [each.leader for each in found.partitions.values()] == [1, 2]
        assert self.image.topics.find("payments") is None
        assert self.image.topics.find_partition(topic_id(1), 2) is None

    def test_take_their_configuration_along_when_they_go(self) -> None:
        configured = replayed(config("orders", "retention.ms", "1"), image=self.image)
        assert configured.configs_of(ConfigResource.topic("orders")) == {"retention.ms": "1"}
        gone = replayed(RemoveTopicRecord(topic_id=topic_id(1)), image=configured)
        assert gone.topics.find("orders") is None
        assert not gone.configs

    def test_may_come_back_under_a_new_id_in_one_delta(self) -> None:
        delta = delta_of(
            self.image, RemoveTopicRecord(topic_id=topic_id(1)), *topic("orders", 2, (1,))
        )
        assert [each.topic_id for each in delta.topics.created()] == [topic_id(2)]
        assert list(delta.topics.removed) == [topic_id(1)]
        found = delta.after(HERE).topics.find("orders")
        assert found is not None
        assert found.topic_id == topic_id(2)

    def test_that_come_and_go_in_one_delta_leave_no_trace(self) -> None:
        delta = delta_of(
            self.image, *topic("brief", 3, (1,)), RemoveTopicRecord(topic_id=topic_id(3))
        )
        assert not delta.topics
        assert delta.after(HERE) == self.image

    def test_leave_out_of_an_update_what_did_not_change(self) -> None:
        before = self.image
        after = replayed(register(3), image=before)
        assert after.topics is before.topics
        assert after.configs is before.configs


class TestPartitionChanges:
    image = replayed(*topic("orders", 1, (1, 2, 3)))

    def changed(self, **change: object) -> PartitionChangeRecord:
        return PartitionChangeRecord(partition_id=0, topic_id=topic_id(1), **change)  # type: ignore[arg-type]

    def test_of_the_isr_are_a_partition_epoch(self) -> None:
        after = replayed(self.changed(isr=[1]), image=self.image)
        found = after.topics.by_id[topic_id(1)].partitions[0]
        assert (found.isr, found.partition_epoch, found.leader_epoch) == ((1,), 1, 0)

    def test_that_name_a_leader_are_a_leader_epoch_even_if_it_is_the_same(self) -> None:
        after = replayed(self.changed(leader=1), image=self.image)
        found = after.topics.by_id[topic_id(1)].partitions[0]
        assert (found.leader, found.leader_epoch) == (1, 1)

    def test_of_elr_are_undone_by_clearing(self) -> None:
        after = replayed(
            self.changed(eligible_leader_replicas=[2], last_known_elr=[3]), image=self.image
        )
        assert after.topics.by_id[topic_id(1)].partitions[0].elr == (2,)
        for name in ("", "orders"):
            cleared = replayed(ClearElrRecord(topic_name=name), image=after)
            found = cleared.topics.by_id[topic_id(1)].partitions[0]
            assert (found.elr, found.last_known_elr) == ((), ())
            assert found.partition_epoch == 2
            again = replayed(ClearElrRecord(topic_name=name), image=cleared)
            assert again.topics == cleared.topics

    def test_of_replicas_in_an_old_log_leave_the_directories_open(self) -> None:
        after = replayed(self.changed(replicas=[1, 2]), image=self.image)
        found = after.topics.by_id[topic_id(1)].partitions[0]
        assert found.directories == (MIGRATING, MIGRATING)

    def test_are_told_with_what_was_before(self) -> None:
        delta = delta_of(self.image, self.changed(isr=[1]), partition(1, 1, 3, 2))
        told = {
            partition_id: (None if before is None else before.isr, after.isr)
            for partition_id, before, after in delta.topics.changed[topic_id(1)].changed()
        }
        assert told == {0: ((1, 2, 3), (1,)), 1: (None, (3, 2))}


class TestBrokers:
    image = replayed(register(1, epoch=7, fenced=True))

    def test_are_fenced_and_unfenced_by_old_records_and_new(self) -> None:
        unfenced = replayed(UnfenceBrokerRecord(id=1, epoch=7), image=self.image)
        assert unfenced.is_active(1)
        fenced = replayed(FenceBrokerRecord(id=1, epoch=7), image=unfenced)
        assert not fenced.is_active(1)
        again = replayed(change_broker(fenced=-1), image=fenced)
        assert again.is_active(1)

    def test_in_controlled_shutdown_are_not_active(self) -> None:
        image = replayed(
            change_broker(fenced=-1), change_broker(in_controlled_shutdown=1), image=self.image
        )
        assert not image.brokers[1].fenced
        assert not image.is_active(1)

    def test_of_nowhere_are_not_active(self) -> None:
        assert not self.image.is_active(9)

    def test_lose_directories(self) -> None:
        image = replayed(register(2), image=self.image)
        assert image.brokers[2].default_dir == log_dir(2)
        assert image.brokers[2].has_online_dir(log_dir(2))
        assert not image.brokers[2].has_online_dir(uuid(99))


def test_directories_that_name_none() -> None:
    assert is_online(UNASSIGNED, [uuid(1)])
    assert is_online(MIGRATING, [uuid(1)])
    assert not is_online(LOST, [])
    assert is_online(uuid(2), []), "a broker that told no directories is taken to have them all"


@pytest.mark.parametrize(
    "record",
    [
        TopicRecord(name="orders", topic_id=topic_id(2)),
        TopicRecord(name="new", topic_id=topic_id(1)),
        PartitionRecord(
            partition_id=0,
            topic_id=topic_id(9),
            replicas=[1],
            isr=[1],
            removing_replicas=[],
            adding_replicas=[],
            directories=[],
        ),
        PartitionChangeRecord(partition_id=5, topic_id=topic_id(1), isr=[1]),
        RemoveTopicRecord(topic_id=topic_id(9)),
        ClearElrRecord(topic_name="nowhere"),
        UnregisterBrokerRecord(broker_id=1, broker_epoch=6),
        FenceBrokerRecord(id=9, epoch=1),
        RemoveAccessControlEntryRecord(id=uuid(1)),
        FeatureLevelRecord(name="metadata.version", feature_level=99),
        FeatureLevelRecord(name="metadata.version", feature_level=3),
        FeatureLevelRecord(name="no.such.version", feature_level=1),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_log_that_contradicts_itself_is_refused(record: MetadataRecord) -> None:
    image = replayed(register(1, epoch=7), *topic("orders", 1, (1,)))
    with pytest.raises(ReplayError):
        replayed(record, image=image)


def config(name: str, key: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=2, resource_name=name, name=key, value=value)


def change_broker(*, fenced: int = 0, in_controlled_shutdown: int = 0) -> MetadataRecord:
    return BrokerRegistrationChangeRecord(
        broker_id=1, broker_epoch=7, fenced=fenced, in_controlled_shutdown=in_controlled_shutdown
    )


def delta_of(image: MetadataImage, *records: MetadataRecord) -> MetadataDelta:
    delta = MetadataDelta(image)
    for record in records:
        delta.replay(record)
    return delta
